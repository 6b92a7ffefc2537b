/** Locks that a killed git left behind, and those that a living one holds. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll } from '../../src/git/commit.ts';
import { removeDeadLocks, removeStaleLocks } from '../../src/git/locks.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const lockOf = ({ commonDir }: TempRepo): string => join(commonDir, 'refs/heads/main.lock');

/** A git that holds the lock of `main` until its input ends. */
async function holder(repo: TempRepo): Promise<ChildProcess> {
  const git = spawn('git', ['update-ref', '--stdin'], { cwd: repo.commonDir });
  const head = await repo.git('rev-parse', 'HEAD');
  const parent = await repo.git('commit-tree', '-m', 'x', `${head}^{tree}`);
  git.stdin.write(`start\nupdate refs/heads/main ${parent} ${head}\nprepare\n`);
  let said = '';
  for await (const text of git.stdout) {
    said += String(text);
    if (said.includes('prepare: ok')) break;
  }
  expect(existsSync(lockOf(repo))).toBe(true);
  return git;
}

test('a lock without a holder is removed', async () => {
  await using repo = await tempRepo();
  writeFileSync(lockOf(repo), '');
  writeFileSync(join(repo.commonDir, 'index.lock'), '');
  expect(await removeDeadLocks(repo, repo.signal)).toEqual([]);
  expect(existsSync(lockOf(repo))).toBe(false);
  expect(existsSync(join(repo.commonDir, 'index.lock'))).toBe(false);
});

test('a git that holds one is waited for', async () => {
  await using repo = await tempRepo();
  const git = await holder(repo);
  const removed = removeDeadLocks(repo, repo.signal);
  git.stdin?.end();
  await once(git, 'exit');
  expect(await removed).toEqual([]);
  expect(existsSync(lockOf(repo))).toBe(false);
});

test('a process that holds a lock for long keeps it', async () => {
  await using repo = await tempRepo();
  const git = await holder(repo);
  expect(await removeDeadLocks(repo, repo.signal)).toContain(lockOf(repo));
  expect(existsSync(lockOf(repo))).toBe(true);
  git.stdin?.end();
  await once(git, 'exit');
});

test('locks of a worktree and its branch are removed, and all others stay', async () => {
  await using repo = await tempRepo();
  const { commonDir, signal } = repo;
  const commit = await repo.git('rev-parse', 'HEAD');
  const dir = join(repo.outside, 'one');
  await addWorktree(commonDir, { path: dir, branch: 'task/one', commit }, signal);
  const others = ['index.lock', 'refs/heads/main.lock', 'refs/heads/task/two.lock'];
  const own = ['index', 'HEAD'].map((name) => `worktrees/one/${name}.lock`);
  for (const name of [...others, ...own, 'refs/heads/task/one.lock']) {
    writeFileSync(join(commonDir, name), '');
  }
  await removeStaleLocks({ commonDir, dir, branch: 'task/one' }, signal);
  writeFileSync(join(dir, 'a'), '');
  expect(await commitAll(dir, { message: 'x' }, signal)).toMatchObject({ kind: 'committed' });
  expect(others.filter((name) => existsSync(join(commonDir, name)))).toEqual(others);
});
