import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import { forecastOf } from './forecast.ts';

const MINUTE = 60_000;
const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Two of six tasks are finished, after one minute and after three; one runs. */
function midway(workers: number, needs: Readonly<Record<string, readonly string[]>> = {}) {
  const tasks = IDS.map((id) => ({ id, needs: needs[id] ?? [] }));
  const limits = { workers, gates: 1, groups: {} };
  const run = new JournalBuilder(tasks, { limits });
  run.start('a').wait(MINUTE).finish('a').land('a');
  run
    .start('b')
    .wait(3 * MINUTE)
    .finish('b')
    .land('b');
  return run.start('c');
}

test('nothing is foretold before something is finished, or when nothing is left', () => {
  const none = new JournalBuilder([{ id: 'a' }, { id: 'b' }]).start('a');
  expect(forecastOf(none.state(), START)).toBeNull();
  const all = new JournalBuilder([{ id: 'a' }]).start('a').finish('a').land('a');
  expect(forecastOf(all.state(), START)).toBeNull();
});

test('tasks one after another take about as long as those before, and p90 is more than p50', () => {
  const state = midway(1).state();
  const { p50, p90 } = forecastOf(state, state.at)!;
  // Four tasks of one to three minutes each.
  expect(p50).toBeGreaterThan(5 * MINUTE);
  expect(p50).toBeLessThan(11 * MINUTE);
  expect(p90).toBeGreaterThan(p50);
  expect(p90).toBeLessThan(13 * MINUTE);
});

test('more workers are done earlier, unless one task needs the other', () => {
  const state = midway(4).state();
  expect(forecastOf(state, state.at)!.p90).toBeLessThan(4 * MINUTE);
  const chain = midway(4, { d: ['c'], e: ['d'], f: ['e'] }).state();
  expect(forecastOf(chain, chain.at)!.p50).toBeGreaterThan(5 * MINUTE);
});

test('a task that takes longer than all before it moves the end away', () => {
  const state = midway(4).state();
  const soon = forecastOf({ ...state, plan: { ...state.plan } }, state.at)!;
  const later = forecastOf({ ...state, plan: { ...state.plan } }, state.at + 60 * MINUTE)!;
  expect(later.p50).toBeGreaterThan(soon.p50);
});
