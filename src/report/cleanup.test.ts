import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import {
  type CleanupWish,
  cleanupText,
  type Leftover,
  planCleanup,
  planPooled,
} from './cleanup.ts';
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

function leftover(given: Given): Leftover {
  const { live = false, outcome = 'failed', kind = 'task', gone = false } = given;
  const run = new JournalBuilder([{ id: 'a' }]).start('a');
  const state = (live ? run : run.end(outcome)).state();
  const task = kind === 'task' ? state.tasks.get('a')! : null;
  const of = { run: 'r1', state, live, folder: '/w' };
  const { unmerged = { commits: 0, files: 0 }, onBranch = true } = given;
  return { claimed: { path: '/w/r1/a', branch: 'x', gone, of, kind, task }, unmerged, onBranch };
}

const fate = (given: Given, all = false) => {
  const [verdict] = planCleanup([leftover(given)], { ...WISH, all });
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
  const lost = '2 files in no commit and commits that no branch of ours holds';
  expect(fate(loose)).toEqual([false, `it holds ${lost} (--all)`]);
  expect(fate(loose, true)).toEqual([true, `a backup ref will hold it: ${lost}`]);
});

test('a live run keeps everything, whatever is asked for', () => {
  const why = 'its run is live; end it first: landfast cancel --run r1, or add --cancel';
  expect(fate({ live: true }, true)).toEqual([false, why]);
  expect(fate({ live: true, kind: 'gate' }, true)).toEqual([false, why]);
});

test('a run that can be resumed keeps its workspaces, and what nobody can measure stays', () => {
  expect(fate({ outcome: 'interrupted' })).toEqual([
    false,
    'its run can go on: landfast resume r1',
  ]);
  expect(fate({ outcome: 'interrupted' }, true)).toEqual([true, 'everything in it is merged']);
  expect(fate({ unmerged: null }, true)).toEqual([false, 'nobody can tell what is in it']);
  expect(fate({ gone: true }, true)[0]).toBe(false);
});

test('only the runs that are meant, and old enough, are looked at', () => {
  const one = [leftover({})];
  expect(planCleanup(one, { ...WISH, run: 'r2' })).toEqual([]);
  expect(planCleanup(one, { ...WISH, olderThanMs: 20 * DAY })).toEqual([]);
  expect(planCleanup(one, { ...WISH, olderThanMs: 7 * DAY })).toHaveLength(1);
});

test('the list says what goes, what stays and why', () => {
  const both = [leftover({}), leftover({ unmerged: { commits: 0, files: 1 } })];
  expect(cleanupText(planCleanup(both, WISH))).toMatchInlineSnapshot(`
    "To remove: 1 workspace
      /w/r1/a
          everything in it is merged
    To leave: 1 workspace
      /w/r1/a
          it holds 1 file in no commit (--all)
    "
  `);
  expect(cleanupText([])).toBe('Nothing to clean up.\n');
});

test('a workspace of the pool goes when it is broken, gone or old enough, or when all are to go', () => {
  const now = Date.UTC(2026, 6, 2);
  const wish: CleanupWish = { now, all: false, olderThanMs: 0, run: null };
  const pool = (['idle', 'claimed', 'broken', 'gone'] as const).map((state) => {
    return { path: `/w/.pool/${state}`, state, since: now - 3_600_000 };
  });
  const going = (more: Partial<CleanupWish>): readonly string[] =>
    planPooled(pool, { ...wish, ...more })
      .filter(({ remove }) => remove)
      .map(({ path }) => path.replace('/w/.pool/', ''));
  expect(going({})).toEqual(['broken', 'gone']);
  expect(going({ all: true })).toEqual(['idle', 'broken', 'gone']);
  expect(going({ olderThanMs: 3_600_000 })).toEqual(['idle', 'broken', 'gone']);
  expect(going({ olderThanMs: 3_600_001 })).toEqual(['broken', 'gone']);
  expect(planPooled(pool, { ...wish, run: 'r1' })).toEqual([]);
  const live = planPooled(pool, { ...wish, all: true }).filter((one) => one.live);
  expect(live).toMatchObject([{ path: '/w/.pool/claimed', remove: false }]);
});
