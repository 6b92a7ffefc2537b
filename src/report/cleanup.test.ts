import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import type { CleanupOptions, Leftover, MeasuredWorkspace } from './cleanup.ts';
import { cleanupText, countKinds, planLeftovers, planPooled, planWorkspaces } from './cleanup.ts';
import type { Unmerged } from './workspaces.ts';

const DAY = 86_400_000;
const WISH = { now: START + 10 * DAY, all: false, olderThanMs: 0, run: null };

interface Given {
  readonly live?: boolean;
  readonly outcome?: 'failed' | 'interrupted';
  readonly kind?: 'task' | 'gate';
  readonly gone?: boolean;
  readonly unmerged?: Unmerged | null;
  readonly onBranch?: boolean;
}

function leftover(given: Given): MeasuredWorkspace {
  const { live = false, outcome = 'failed', kind = 'task', gone = false } = given;
  const run = new JournalBuilder([{ id: 'a' }]).start('a');
  const state = (live ? run : run.end(outcome)).state();
  const task = kind === 'task' ? state.tasks.get('a')! : null;
  const of = { run: 'r1', state, live, folder: '/w', gates: '/w/r1.gates' };
  const { unmerged = { commits: 0, files: 0 }, onBranch = true } = given;
  return { claimed: { path: '/w/r1/a', branch: 'x', gone, of, kind, task }, unmerged, onBranch };
}

const fate = (given: Given, all = false) => {
  const [verdict] = planWorkspaces([leftover(given)], { ...WISH, all });
  return [verdict?.remove, verdict?.why];
};

test('what is merged, or held by its branch, goes by itself', () => {
  expect(fate({})).toEqual([true, 'everything in it is merged']);
  expect(fate({ unmerged: { commits: 2, files: 0 } })).toEqual([
    true,
    'its branch stays and holds 2 commits not merged',
  ]);
  expect(fate({ kind: 'gate' })).toEqual([true, 'it holds no work']);
});

test('loose files and commits without a branch stay, unless all is to go', () => {
  const loose = { unmerged: { commits: 1, files: 2 }, onBranch: false };
  const lost = '2 files in no commit and commits on no branch';
  expect(fate(loose)).toEqual([false, `it holds ${lost} (--all)`]);
  expect(fate(loose, true)).toEqual([true, `a backup ref will keep it: ${lost}`]);
});

test('a live run keeps everything, whatever is asked for', () => {
  const why = 'its run is live; end it first: landfast cancel --run r1, or add --cancel';
  expect(fate({ live: true }, true)).toEqual([false, why]);
  expect(fate({ live: true, kind: 'gate' }, true)).toEqual([false, why]);
});

test('a run that can be resumed keeps its workspaces, and what nobody can measure stays', () => {
  expect(fate({ outcome: 'interrupted' })).toEqual([
    false,
    'its run can be resumed: landfast resume r1',
  ]);
  expect(fate({ outcome: 'interrupted' }, true)).toEqual([true, 'everything in it is merged']);
  expect(fate({ unmerged: null }, true)).toEqual([false, 'its contents could not be determined']);
  expect(fate({ gone: true }, true)[0]).toBe(false);
});

test('only the runs that are meant, and old enough, are looked at', () => {
  const one = [leftover({})];
  expect(planWorkspaces(one, { ...WISH, run: 'r2' })).toEqual([]);
  expect(planWorkspaces(one, { ...WISH, olderThanMs: 20 * DAY })).toEqual([]);
  expect(planWorkspaces(one, { ...WISH, olderThanMs: 7 * DAY })).toHaveLength(1);
});

test('the list says what goes, what stays and why', () => {
  const both = [leftover({}), leftover({ unmerged: { commits: 0, files: 1 } })];
  expect(cleanupText(planWorkspaces(both, WISH))).toMatchInlineSnapshot(`
    "To remove: 1 workspace
      /w/r1/a
          everything in it is merged
    To keep: 1 workspace
      /w/r1/a
          it holds 1 file in no commit (--all)
    "
  `);
  expect(cleanupText([])).toBe('Nothing to clean up.\n');
});

test('a workspace of the pool goes when it is broken, gone or old enough, or when all are to go', () => {
  const now = Date.UTC(2026, 6, 2);
  const wish: CleanupOptions = { now, all: false, olderThanMs: 0, run: null };
  const pool = (['idle', 'claimed', 'broken', 'gone'] as const).map((state) => {
    return { path: `/w/landfast.pool/${state}`, state, since: now - 3_600_000 };
  });
  const going = (more: Partial<CleanupOptions>): readonly string[] =>
    planPooled(pool, { ...wish, ...more })
      .filter(({ remove }) => remove)
      .map(({ path }) => path.replace('/w/landfast.pool/', ''));
  expect(going({})).toEqual(['broken', 'gone']);
  expect(going({ all: true })).toEqual(['idle', 'broken', 'gone']);
  expect(going({ olderThanMs: 3_600_000 })).toEqual(['idle', 'broken', 'gone']);
  expect(going({ olderThanMs: 3_600_001 })).toEqual(['broken', 'gone']);
  expect(planPooled(pool, { ...wish, run: 'r1' })).toEqual([]);
  const live = planPooled(pool, { ...wish, all: true }).filter((one) => one.live);
  expect(live).toMatchObject([{ path: '/w/landfast.pool/claimed', remove: false }]);
});

function place(outcome: 'failed' | 'interrupted' = 'failed', live = false) {
  const state = new JournalBuilder([{ id: 'a' }]).start('a').end(outcome).state();
  return { run: 'r1', state, live, folder: '/w', gates: '/w/r1.gates' };
}

const branch = (given: Partial<Leftover & { kind: 'branch' }> = {}): Leftover => ({
  ...{ kind: 'branch', path: 'landfast/r1.a', task: 'a', of: place() },
  ...{ heldBy: null, usedBy: null, isNamed: false, landedAs: null },
  ...given,
});

const fates = (trace: Leftover, wish: Partial<typeof WISH> = {}) =>
  planLeftovers([trace], { ...WISH, ...wish }).map(({ remove, why }) => [remove, why]);

test('a branch goes only if something else holds all of it', () => {
  expect(fates(branch({ heldBy: 'main' }))).toEqual([[true, 'all of it is in main']]);
  expect(fates(branch(), { all: true })).toEqual([[false, 'nothing else holds its commits']]);
  expect(fates(branch({ heldBy: 'main', usedBy: '/w/r1/a' }))).toEqual([]);
});

test('a branch whose changes landed squashed goes with all, and its commits stay', () => {
  const squashed = branch({ landedAs: '0123456789abcdef' });
  const why = 'its changes landed as 0123456';
  expect(fates(squashed)).toEqual([[false, `${why}, and nothing else holds its commits (--all)`]]);
  expect(fates(squashed, { all: true })).toEqual([
    [true, `${why}; a backup ref will keep its commits`],
  ]);
});

test('a branch that the plan named goes only with all, and only if the target has it', () => {
  const named = (given: Partial<Leftover & { kind: 'branch' }>) =>
    branch({ isNamed: true, ...given });
  expect(fates(named({ heldBy: 'main' }))).toEqual([]);
  expect(fates(named({ heldBy: 'main' }), { all: true })).toEqual([[true, 'all of it is in main']]);
  expect(fates(named({ landedAs: '0123456789' }), { all: true })[0]?.[0]).toBe(true);
  expect(fates(named({ heldBy: 'refs/landfast/kept/r1/a' }), { all: true })).toEqual([]);
  expect(fates(named({}), { all: true })).toEqual([]);
});

test('what a live run uses is not touched, and what another may go on with only with all', () => {
  expect(fates(branch({ heldBy: 'main', of: place('failed', true) }), { all: true })).toEqual([]);
  const open = branch({ heldBy: 'main', of: place('interrupted') });
  expect(fates(open)).toEqual([[false, 'its run can be resumed: landfast resume r1']]);
  expect(fates(open, { all: true })).toEqual([[true, 'all of it is in main']]);
});

test('what agents said goes with runs as old as was said, and with no others', () => {
  const data: Leftover = { kind: 'data', path: '/s/runs/r1', of: place() };
  expect(fates(data)).toEqual([]);
  expect(fates(data, { olderThanMs: 11 * DAY })).toEqual([]);
  const why = 'transcripts only; the journal of the run stays';
  expect(fates(data, { olderThanMs: 7 * DAY })).toEqual([[true, why]]);
});

test('a lock goes if no process can hold it', () => {
  const lock = { kind: 'lock', path: '/r/.git/refs/heads/landfast/x.lock' } as const;
  expect(fates({ ...lock, busy: true })[0]?.[0]).toBe(false);
  expect(fates({ ...lock, busy: false })[0]?.[0]).toBe(true);
  expect(fates({ ...lock, busy: false }, { run: 'r1' as never })).toEqual([]);
});

test('things are counted by what they are', () => {
  const verdicts = (['branch', 'workspace', 'branch'] as const).map((kind) => ({ kind }));
  expect(countKinds(verdicts)).toBe('1 workspace, 2 branches');
});
