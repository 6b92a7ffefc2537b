import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import { countKinds } from './cleanup.ts';
import { planTraces, type Trace } from './traces.ts';

const DAY = 86_400_000;
const WISH = { now: START + 10 * DAY, all: false, olderThanMs: 0, run: null };

function place(outcome: 'failed' | 'interrupted' = 'failed', live = false) {
  const state = new JournalBuilder([{ id: 'a' }]).start('a').end(outcome).state();
  return { run: 'r1', state, live, folder: '/w' };
}

const branch = (given: Partial<Trace & { kind: 'branch' }> = {}): Trace => ({
  ...{ kind: 'branch', path: 'landfast/r1.a', task: 'a', of: place() },
  ...{ heldBy: null, usedBy: null },
  ...given,
});

const fates = (trace: Trace, wish: Partial<typeof WISH> = {}) =>
  planTraces([trace], { ...WISH, ...wish }).map(({ remove, why }) => [remove, why]);

test('a branch goes only if something else holds all of it', () => {
  expect(fates(branch({ heldBy: 'main' }))).toEqual([[true, 'all of it is in main']]);
  expect(fates(branch(), { all: true })).toEqual([[false, 'nothing else holds its commits']]);
  expect(fates(branch({ heldBy: 'main', usedBy: '/w/r1/a' }))).toEqual([]);
});

test('what a live run uses is not touched, and what another may go on with only with all', () => {
  expect(fates(branch({ heldBy: 'main', of: place('failed', true) }), { all: true })).toEqual([]);
  const open = branch({ heldBy: 'main', of: place('interrupted') });
  expect(fates(open)).toEqual([[false, 'its run can go on: landfast resume r1']]);
  expect(fates(open, { all: true })).toEqual([[true, 'all of it is in main']]);
});

test('what agents said goes with runs as old as was said, and with no others', () => {
  const data: Trace = { kind: 'data', path: '/s/runs/r1', of: place() };
  expect(fates(data)).toEqual([]);
  expect(fates(data, { olderThanMs: 11 * DAY })).toEqual([]);
  const why = 'what agents said; the journal of the run stays';
  expect(fates(data, { olderThanMs: 7 * DAY })).toEqual([[true, why]]);
});

test('a lock goes if nobody can hold it', () => {
  const lock = { kind: 'lock', path: '/r/.git/refs/heads/landfast/x.lock' } as const;
  expect(fates({ ...lock, busy: true })[0]?.[0]).toBe(false);
  expect(fates({ ...lock, busy: false })[0]?.[0]).toBe(true);
  expect(fates({ ...lock, busy: false }, { run: 'r1' as never })).toEqual([]);
});

test('things are counted by what they are', () => {
  const verdicts = (['branch', 'workspace', 'branch'] as const).map((kind) => ({ kind }));
  expect(countKinds(verdicts)).toBe('1 workspace, 2 branches');
});
