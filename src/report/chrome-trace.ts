/**
 * The timing profile of a run: measured spans as a Chrome trace (chrome://tracing, Perfetto), and
 * their totals.
 *
 * The engine and every task have a row. Spans in a row nest or lie apart; a span that would cross
 * another gets a further row of the same task. A total excludes the spans nested in it.
 */

/** A timed piece of work; times are milliseconds since 1970. */
export interface TracedSpan {
  readonly kind: string;
  /** The task; null for the engine. */
  readonly of: string | null;
  readonly name: string;
  readonly begin: number;
  readonly end: number;
}

/** Time and count per kind of work. */
export type Totals = Readonly<Record<string, { readonly ms: number; readonly count: number }>>;

interface Row {
  readonly of: string | null;
  readonly spans: readonly TracedSpan[];
}

export function traceOf(spans: readonly TracedSpan[], run: string) {
  const rows = rowsOf(spans);
  const origin = spans.reduce((least, { begin }) => Math.min(least, begin), Number.MAX_VALUE);
  const micros = (ms: number): number => Math.round(ms * 1000);
  const names = rows.map(({ of }, tid) => {
    return { ph: 'M', name: 'thread_name', pid: 1, tid, args: { name: of ?? 'engine' } };
  });
  const events = rows.flatMap((row, tid) =>
    row.spans.map(({ kind, name, begin, end }) => ({
      ...{ ph: 'X', cat: kind, name, pid: 1, tid },
      ts: micros(begin - origin),
      dur: micros(end - origin) - micros(begin - origin),
    })),
  );
  return {
    displayTimeUnit: 'ms',
    otherData: { run, totals: totalsOf(spans) },
    traceEvents: [...names, ...events],
  };
}

export function totalsOf(spans: readonly TracedSpan[]): Totals {
  const totals: Record<string, { ms: number; count: number }> = {};
  for (const { spans: inRow } of rowsOf(spans)) {
    inRow.forEach((span, index) => {
      const total = totals[span.kind] ?? { ms: 0, count: 0 };
      const ms = span.end - span.begin - insideOf(inRow, index);
      totals[span.kind] = { ms: total.ms + ms, count: total.count + 1 };
    });
  }
  const sorted = Object.entries(totals).sort(([, a], [, b]) => b.ms - a.ms);
  return Object.fromEntries(
    sorted.map(([kind, { ms, count }]) => [kind, { ms: Math.round(ms), count }]),
  );
}

/** The time of the spans nested directly in one. */
function insideOf(row: readonly TracedSpan[], index: number): number {
  const outer = row[index];
  let [sum, until] = [0, Number.NEGATIVE_INFINITY];
  for (let next = index + 1; outer !== undefined && next < row.length; next += 1) {
    const span = row[next];
    if (span === undefined || span.begin >= outer.end) break;
    if (span.begin < until) continue; // Inside of one that is counted.
    sum += span.end - span.begin;
    until = span.end;
  }
  return sum;
}

/** The engine's row first, then tasks by start. */
function rowsOf(spans: readonly TracedSpan[]): readonly Row[] {
  const sorted = [...spans].sort((a, b) => a.begin - b.begin || b.end - a.end);
  const names = [...new Set([null, ...sorted.map(({ of }) => of)])];
  return names.flatMap((of) =>
    lanes(sorted.filter((span) => span.of === of)).map((lane) => ({ of, spans: lane })),
  );
}

/** Distributes spans, sorted by start, over as few lanes as keep them from crossing. */
function lanes(spans: readonly TracedSpan[]): readonly (readonly TracedSpan[])[] {
  const made: { readonly spans: TracedSpan[]; open: TracedSpan[] }[] = [];
  for (const span of spans) {
    for (const lane of made) lane.open = lane.open.filter(({ end }) => end > span.begin);
    let lane = made.find(({ open }) => open.every(({ end }) => end >= span.end));
    if (lane === undefined) {
      lane = { spans: [], open: [] };
      made.push(lane);
    }
    lane.spans.push(span);
    lane.open.push(span);
  }
  return made.map((lane) => lane.spans);
}
