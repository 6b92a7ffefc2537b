/** Git's own checks of objects that other programs have made. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { objectProblem } from '../../src/git/object-check.ts';
import { runGit, tempRepo } from '../support/temp-repo.ts';

test('a fine commit passes, one that a checkout could not hold is refused', async () => {
  await using repo = await tempRepo();
  const from = await repo.git('rev-parse', 'HEAD');
  const blob = await repo.git('rev-parse', 'HEAD:README.md');
  const tree = await repo.git('rev-parse', 'HEAD^{tree}');
  const problem = async (entries: readonly string[], on = from) => {
    const made = await runGit(repo.dir, ['mktree', '--missing'], `${entries.join('\n')}\n`);
    const to = await repo.git('commit-tree', '-p', on, '-m', 'made by hand', made);
    return objectProblem(repo.dir, { from, to }, repo.signal);
  };
  expect(await objectProblem(repo.dir, { from, to: from }, repo.signal)).toBe(null);
  expect(await problem([`100644 blob ${blob}\tfine`, `040000 tree ${tree}\tdir`])).toBe(null);
  expect(await problem([`040000 tree ${tree}\t..`])).toMatch(/hasDotdot/);
  expect(await problem([`100644 blob ${blob}\t.git`])).toMatch(/hasDotgit/);
  expect(await problem([`100644 blob ${'1'.repeat(40)}\tmissing`])).toMatch(/1{40}/);
  const bad = await runGit(repo.dir, ['mktree'], `040000 tree ${tree}\t..\n`);
  const below = await repo.git('commit-tree', '-p', from, '-m', 'below', bad);
  expect(await problem([`100644 blob ${blob}\tfine`], below)).toMatch(/hasDotdot/);
  expect(readdirSync(join(repo.commonDir, 'landfast', 'temp'))).toEqual([]);
});
