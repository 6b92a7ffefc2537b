/** Workspaces with some folders that are used again: with the same ones, with others, with all. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Cone, sparseEnvironment } from '../../src/git/sparse.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import { Random } from '../sim/random.ts';
import { DIRT, dirty, dirtyable, gitState, headIn, walk } from '../support/dirt.ts';
import { testPool } from '../support/pool.ts';
import type { TempRepo } from '../support/temp-repo.ts';

/** What only a workspace with some folders can have. */
const SPARSE_DIRT: Readonly<Record<string, string>> = {
  'more folders': 'git sparse-checkout add bin',
  'other folders': 'git sparse-checkout set bin',
  'all folders': 'git sparse-checkout disable',
  'patterns of another kind': 'git sparse-checkout set --no-cone "/*" "!/dir"',
  'no patterns': 'rm -f "$(git rev-parse --git-path info/sparse-checkout)"',
  'no note': 'rm -f "$(git rev-parse --git-path landfast-sparse)"',
  'a new file elsewhere': 'mkdir -p bin; echo x > bin/new',
  'a changed file elsewhere': 'mkdir -p bin; echo x > bin/tool',
  'a commit elsewhere': 'mkdir -p bin; echo x > bin/tool; git add --sparse -A; git commit -qm x',
  'a file elsewhere that is gone': 'git rm -q --sparse bin/tool',
  'a file elsewhere as it is': 'git checkout --ignore-skip-worktree-bits HEAD -- bin',
  'ignored files elsewhere': 'mkdir -p bin/cache; echo x > bin/cache/x; echo x > bin/x.log',
};

const ALL = { ...DIRT, ...SPARSE_DIRT };

test.each(Object.entries(SPARSE_DIRT))(
  '%s in some folders is seen by nobody',
  async (_, script) => {
    await using repo = await dirtyable();
    await expectNothingOf(repo, { scripts: [script], pristine: false, after: ['dir'] });
  },
);

test.each([1, 2, 3, 4, 5, 6, 7, 8])('nor is random dirt, whatever is next (%i)', async (seed) => {
  await using repo = await dirtyable();
  const random = new Random(seed);
  const scripts = Array.from({ length: random.between(1, 5) }, () =>
    random.pick(Object.values(ALL)),
  );
  const next: readonly (Cone | null)[] = [['dir'], ['bin'], ['dir/deep', 'other'], [], null];
  await expectNothingOf(repo, { scripts, pristine: false, after: random.pick(next) });
});

test.each(['more folders', 'a commit elsewhere', 'a file elsewhere as it is'])(
  '%s are gone although git finds nothing beyond the commit',
  async (kind) => {
    await using repo = await dirtyable();
    await expectNothingOf(repo, { scripts: [SPARSE_DIRT[kind]!], pristine: true, after: ['dir'] });
  },
);

interface HandedOn {
  readonly scripts: readonly string[];
  readonly pristine: boolean;
  readonly after: Cone | null;
}

/** Puts the dirt into a workspace, hands it on, and compares it with a new one. */
async function expectNothingOf(
  repo: TempRepo,
  { scripts, pristine, after }: HandedOn,
): Promise<void> {
  const pool = testPool(repo, 2);
  const { commonDir, signal } = repo;
  const base = await repo.git('rev-parse', 'main');
  const next = await repo.git('rev-parse', 'next');
  const dir = join(repo.outside, 'one');
  await addWorktree(
    commonDir,
    { path: dir, branch: 'task-one', commit: base, cone: ['dir'] },
    signal,
  );
  const env = sparseEnvironment(dir, {});
  for (const script of scripts) dirty(dir, script, env);
  const commit = headIn(dir);
  expect(await pool.put(dir, { commit, pristine }, signal)).toBe(true);
  const taken = join(repo.outside, 'two');
  const wanted = {
    dir: taken,
    commit: next,
    branch: 'task-two',
    owner: 'me',
    cone: after,
    assertHeld: () => undefined,
  };
  const isTaken = await pool.take(wanted, signal);
  // One without its note holds all folders now, and is left for who needs them.
  expect(isTaken).toBe(after === null || !scripts.includes(SPARSE_DIRT['no note']!));
  if (!isTaken) return;
  const fresh = join(repo.outside, 'fresh');
  await addWorktree(
    commonDir,
    { path: fresh, branch: 'task-new', commit: next, cone: after },
    signal,
  );
  expect(walk(taken)).toEqual(walk(fresh));
  const told = sparseEnvironment(fresh, {});
  expect(sparseEnvironment(taken, {})).toEqual(told);
  expect(gitState(taken, told)).toEqual(
    gitState(fresh, told).map((text) => text.replaceAll('-new', '-two')),
  );
}
