/** Locks that a killed git left behind, and those that a living one holds. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeDeadLocks } from '../../src/git/locks.ts';
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

test('a lock that nobody holds is removed', async () => {
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

test('one that holds it for long keeps it', async () => {
  await using repo = await tempRepo();
  const git = await holder(repo);
  expect(await removeDeadLocks(repo, repo.signal)).toContain(lockOf(repo));
  expect(existsSync(lockOf(repo))).toBe(true);
  git.stdin?.end();
  await once(git, 'exit');
});
