import { expect, test } from 'vitest';
import { type TracedSpan, totalsOf, traceOf } from './chrome-trace.ts';

const span = (kind: string, of: string | null, begin: number, end: number): TracedSpan => ({
  kind,
  of,
  name: kind,
  begin: 1_000 + begin,
  end: 1_000 + end,
});

test('the engine and each task have a row, and times count from the first span', () => {
  const { traceEvents } = traceOf([span('agent', 'a', 2, 5), span('run', null, 0, 10)], 'r1');
  expect(traceEvents).toEqual([
    { ph: 'M', name: 'thread_name', pid: 1, tid: 0, args: { name: 'engine' } },
    { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'a' } },
    { ph: 'X', cat: 'run', name: 'run', pid: 1, tid: 0, ts: 0, dur: 10_000 },
    { ph: 'X', cat: 'agent', name: 'agent', pid: 1, tid: 1, ts: 2_000, dur: 3_000 },
  ]);
});

test('a span that would cross another gets a row of its own', () => {
  const { traceEvents } = traceOf(
    [span('gate', 'a', 0, 5), span('gate', 'a', 3, 8), span('land', 'a', 8, 9)],
    'r1',
  );
  const rows = traceEvents.filter(({ ph }) => ph === 'X').map((event) => event.tid);
  expect(rows).toEqual([0, 0, 1]);
});

test('time inside of another span is counted once', () => {
  const spans = [
    span('attempt', 'a', 0, 10),
    span('workspace', 'a', 1, 3),
    span('agent', 'a', 3, 9),
    span('tool', 'a', 4, 6),
    span('agent', 'b', 0, 7),
  ];
  expect(totalsOf(spans)).toEqual({
    agent: { ms: 11, count: 2 },
    attempt: { ms: 2, count: 1 },
    workspace: { ms: 2, count: 1 },
    tool: { ms: 2, count: 1 },
  });
});

test('nothing measured is an empty trace', () => {
  expect(traceOf([], 'r1')).toEqual({
    displayTimeUnit: 'ms',
    otherData: { run: 'r1', totals: {} },
    traceEvents: [],
  });
});
