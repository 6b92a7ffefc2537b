/** Changes that git was told not to look at: they are in no commit, and not lost for that. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hiddenChanges } from '../../src/git/status.ts';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = { 'src/a/one': '1\n', 'src/a/two': '1\n', 'src/a/same': '1\n', 'src/b/other': '1\n' };

const HIDE = [
  'git update-index --assume-unchanged src/a/one src/a/same; echo mine > src/a/one',
  'git update-index --skip-worktree src/a/two 2> /dev/null; echo also > src/a/two',
].join('; ');

const keptRefs = async (repo: TempRepo) =>
  (await repo.git('for-each-ref', '--format=%(refname)', 'refs/landfast/kept')).split('\n');

test('they are found, and looking leaves the index as it is', async () => {
  await using repo = await tempRepo({ files: FILES });
  const flags = () => repo.git('ls-files', '-v');
  expect(await hiddenChanges(repo.dir, repo.signal)).toEqual([]);
  await repo.git('update-index', '--assume-unchanged', 'src/a/one', 'src/a/same');
  await repo.git('update-index', '--skip-worktree', 'src/a/two', 'src/b/other');
  expect(await hiddenChanges(repo.dir, repo.signal)).toEqual([]);
  await repo.write({ 'src/a/one': '2\n', 'src/a/two': '2\n' });
  const before = await flags();
  expect(await hiddenChanges(repo.dir, repo.signal)).toEqual(['src/a/one', 'src/a/two']);
  expect(await flags()).toBe(before);
});

test('a task that succeeds does not commit them; they are held by a ref', async () => {
  await using repo = await tempRepo({ files: FILES });
  const run = await runPlan(repo, {
    workers: 1,
    tasks: {
      a: `${HIDE}; echo new > new`,
      b: { needs: ['a'], prompt: 'cat src/a/one src/a/two > seen' },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('show', 'main:seen')).toBe('1\n1');
  expect(run.of('workspace.removed', 'a')).toHaveLength(1);
  const ref = `refs/landfast/kept/${run.run}/a`;
  expect(await keptRefs(repo)).toEqual([ref]);
  expect(await repo.git('diff', '--name-only', `${ref}^`, ref)).toBe('src/a/one\nsrc/a/two');
  expect(await repo.git('show', `${ref}:src/a/one`)).toBe('mine');
  expect(await repo.git('show', `${ref}:src/a/two`)).toBe('also');
});

test('the same where only some folders are checked out', async () => {
  await using repo = await tempRepo({ files: FILES });
  const run = await runPlan(repo, {
    tasks: { a: { writes: ['src/a/**'], prompt: `${HIDE}; echo new > src/a/new` } },
    more: { workspace: { sparse: 'auto' } },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('show', 'main:src/a/one')).toBe('1');
  const ref = `refs/landfast/kept/${run.run}/a`;
  expect(await keptRefs(repo)).toEqual([ref]);
  expect(await repo.git('show', `${ref}:src/a/one`)).toBe('mine');
});

test('the workspace of a failed task stays for them, and cleaning up keeps them', async () => {
  await using repo = await tempRepo({ files: FILES });
  const run = await runPlan(repo, { tasks: { a: HIDE } });
  expect(run.failure('a')).toMatchObject({ kind: 'no-change' });
  const dir = join(repo.outside, 'repo.worktrees', run.run, 'a');
  const env = { HOME: repo.outside };
  const listed = await landfast(['worktrees'], { cwd: repo.dir, env });
  expect(listed.stdout).toContain('2 files not committed');
  await landfast(['cleanup', '--force'], { cwd: repo.dir, env });
  expect(existsSync(dir)).toBe(false);
  const [ref] = await keptRefs(repo);
  expect(await repo.git('show', `${ref}:src/a/one`)).toBe('mine');
});
