/**
 * Where the time of a run went: measured spans as a Chrome trace, and their sums.
 *
 *   T1. The engine has a row, and every task has one. In a row spans lie inside of each other or
 *       apart; one that would cross another gets a further row of the same task.
 *   T2. Sums are of what was spent in a span itself, without those inside of it that are counted.
 *
 * The format is the one that chrome://tracing and Perfetto read: complete events (`X`) in
 * microseconds, and names of rows (`M`).
 */

/** Something that took time, in milliseconds since 1970. */
export interface TracedSpan {
  readonly kind: string;
  /** The task; null for the engine. */
  readonly of: string | null;
  readonly name: string;
  readonly begin: number;
  readonly end: number;
}

/** What was spent on each kind of work, in milliseconds, and how often. */
export type Totals = Readonly<Record<string, { readonly ms: number; readonly count: number }>>;

interface Row {
  readonly of: string | null;
  readonly spans: readonly TracedSpan[];
}

const ENGINE = 'engine';

/** The whole trace, as JSON is made of it. */
export function traceOf(spans: readonly TracedSpan[], run: string) {
  const rows = rowsOf(spans);
  const origin = spans.reduce((least, { begin }) => Math.min(least, begin), Number.MAX_VALUE);
  const micros = (ms: number): number => Math.round(ms * 1000);
  const names = rows.map(({ of }, tid) => ({
    ph: 'M',
    name: 'thread_name',
    pid: 1,
    tid,
    args: { name: of ?? ENGINE },
  }));
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

/** What was spent on each kind of work. */
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

/** The time of the spans directly inside of one. */
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

/** The engine's row first, then those of tasks as they began. */
function rowsOf(spans: readonly TracedSpan[]): readonly Row[] {
  const sorted = [...spans].sort((a, b) => a.begin - b.begin || b.end - a.end);
  const names = [...new Set([null, ...sorted.map(({ of }) => of)])];
  return names.flatMap((of) =>
    lanes(sorted.filter((span) => span.of === of)).map((lane) => ({ of, spans: lane })),
  );
}

/** Spans, sorted by their begin, in as few lanes as keep them from crossing. */
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
