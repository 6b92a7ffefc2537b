import { expect, test } from 'vitest';
import { InvariantError } from '../base/errors.ts';
import type { Effect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import { EffectReports } from './effect-reports.ts';

const ATTEMPT: Effect = {
  kind: 'attempt',
  task: 'one',
  attempt: 2,
  base: null,
  start: { kind: 'fresh' },
  before: null,
  heard: [],
  meanwhile: [],
  budgetUsd: null,
};
const LAND: Effect = { kind: 'land', onto: 'a', candidates: [], teachers: [] };
const landed = (task: string): Event => ({ type: 'merge.landed', task, onto: 'a', commit: 'b' });
const never = new AbortController().signal;

function listen(effect: Effect) {
  const heard: Event[] = [];
  return { heard, reports: new EffectReports(effect, (fact) => heard.push(fact)) };
}

test('a last word is heard once for each task', () => {
  const { heard, reports } = listen(LAND);
  for (const task of ['one', 'two', 'one']) reports.accept(landed(task));
  reports.close(never);
  expect(heard).toEqual([landed('one'), landed('two')]);
});

test('an attempt that ends without a word has failed, for the reason it was stopped for', () => {
  for (const [signal, kind] of [
    [never, 'transient'],
    [AbortSignal.abort('cancelled'), 'cancelled'],
    [AbortSignal.abort('interrupted'), 'interrupted'],
  ] as const) {
    const { heard, reports } = listen(ATTEMPT);
    reports.close(signal);
    const failure = { kind, message: 'It ended without a result.' };
    expect(heard).toEqual([
      { type: 'attempt.failed', task: 'one', attempt: 2, failure, exitCode: null },
    ]);
  }
});

test('anything else may be silent only when it was stopped', () => {
  const { reports } = listen(LAND);
  expect(() => reports.close(AbortSignal.abort('interrupted'))).not.toThrow();
  expect(() => reports.close(never)).toThrow(InvariantError);
});
