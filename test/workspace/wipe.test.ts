/** Whatever a task leaves in a workspace, the next one finds what it would find in a new one. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../sim/random.ts';
import { DIRT, dirty, dirtyable, FILES, gitState, headIn, walk } from '../support/dirt.ts';
import { testPool } from '../support/pool.ts';
import type { TempRepo } from '../support/temp-repo.ts';

test.each(Object.entries(DIRT))('%s is seen by nobody afterwards', async (_, script) => {
  await using repo = await dirtyable();
  await expectNothingOf(repo, [script]);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'random dirt is seen by nobody afterwards (%i)',
  async (seed) => {
    await using repo = await dirtyable();
    const random = new Random(seed);
    const kinds = Object.values(DIRT);
    await expectNothingOf(
      repo,
      Array.from({ length: random.between(2, 7) }, () => random.pick(kinds)),
    );
  },
);

test('ignored files that the plan names are found again, others and new ones are not', async () => {
  await using repo = await dirtyable();
  const pool = testPool(repo, 2, { keepFiles: ['cache/', 'unignored'] });
  const base = await repo.git('rev-parse', 'main');
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '--detach', dir, base);
  dirty(dir, 'mkdir cache; echo x > cache/x; echo x > x.log; echo x > unignored');
  expect(await pool.put(dir, { commit: base, pristine: false }, repo.signal)).toBe(true);
  const next = join(repo.outside, 'two');
  const wanted = { dir: next, commit: base, branch: null, owner: null };
  expect(await pool.take(wanted, repo.signal)).toBe(true);
  const names = [...walk(next).keys()];
  expect(names.filter((name) => !(name in FILES) && !name.endsWith('/'))).toEqual([
    'cache/x',
    'link',
  ]);
});

/** Puts the dirt into a workspace, hands it on, and compares it with a new one. */
async function expectNothingOf(repo: TempRepo, scripts: readonly string[]): Promise<void> {
  const pool = testPool(repo, 2);
  const base = await repo.git('rev-parse', 'main');
  const next = await repo.git('rev-parse', 'next');
  const dir = join(repo.outside, 'one');
  await repo.git('worktree', 'add', '-q', '-b', 'task-one', dir, base);
  for (const script of scripts) dirty(dir, script);
  const head = headIn(dir);
  const isPooled = await pool.put(dir, { commit: head, pristine: false }, repo.signal);
  expect(isPooled).toBe(true);
  const taken = join(repo.outside, 'two');
  const wanted = { dir: taken, commit: next, branch: 'task-two', owner: 'me' };
  expect(await pool.take(wanted, repo.signal)).toBe(true);
  const fresh = join(repo.outside, 'fresh');
  await repo.git('worktree', 'add', '-q', '-b', 'task-new', fresh, next);
  expect(walk(taken)).toEqual(walk(fresh));
  expect(gitState(taken)).toEqual(gitState(fresh).map((text) => text.replaceAll('-new', '-two')));
}
