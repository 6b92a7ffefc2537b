/** A worktree that is registered without a process is to git like one that it has added itself. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sweepBegun } from '../../src/git/begun.ts';
import { quickRegister } from '../../src/git/quick-worktree.ts';
import { closeRefWriter } from '../../src/git/ref-writer.ts';
import { addWorktree, listWorktrees } from '../../src/git/worktree.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

let repo: TempRepo;
let commit: string;

beforeEach(async () => {
  repo = await tempRepo({ files: { a: 'a\n', 'd/e': 'e\n' } });
  commit = await repo.git('rev-parse', 'HEAD');
});

afterEach(async () => {
  await closeRefWriter(repo.commonDir);
  await repo[Symbol.asyncDispose]();
});

function register(name: string, branch: string | null): Promise<boolean> {
  const path = join(repo.outside, name);
  return quickRegister(repo.commonDir, { path, branch, commit }, repo.signal);
}

test.each(['task/one', null])('on the branch %s', async (branch) => {
  expect(await register('quick', branch)).toBe(true);
  const [path, other] = [join(repo.outside, 'quick'), join(repo.outside, 'slow')];
  const target = branch === null ? ['--detach', other] : ['-b', 'other', other];
  await repo.git('worktree', 'add', '-q', '--no-checkout', ...target);
  for (const dir of [path, other]) await runGit(dir, ['reset', '-q', '--hard']);
  expect(await runGit(path, ['status', '--porcelain'])).toBe('');
  expect(await runGit(path, ['rev-parse', 'HEAD'])).toBe(commit);
  const [, quick, slow] = await listWorktrees(repo, repo.signal);
  expect(quick).toEqual({ ...slow, path, branch });
  const entry = (name: string): string => join(repo.commonDir, 'worktrees', name);
  const made = readdirSync(entry('quick')).filter((name) => !['logs', 'ORIG_HEAD'].includes(name));
  expect(readdirSync(entry('slow'))).toEqual(expect.arrayContaining(made));
  for (const name of ['commondir', 'gitdir']) {
    const text = readFileSync(join(entry('slow'), name), 'utf8');
    expect(readFileSync(join(entry('quick'), name), 'utf8')).toBe(text.replace('slow', 'quick'));
  }
  expect(await repo.git('fsck', '--no-dangling')).toBe('');
  await repo.git('worktree', 'remove', path);
});

test('two of the same name have entries of their own', async () => {
  const add = (path: string) =>
    addWorktree(repo.commonDir, { path, branch: null, commit }, repo.signal);
  await add(join(repo.outside, 'x/same'));
  await add(join(repo.outside, 'y/same'));
  await add(join(repo.outside, 'z/ü'));
  expect((await listWorktrees(repo, repo.signal)).length).toBe(4);
});

test('git is asked where the folder or the branch is there, or worktrees have settings', async () => {
  mkdirSync(join(repo.outside, 'there'));
  expect(await register('there', null)).toBe(false);
  await repo.git('branch', 'taken');
  expect(await register('one', 'taken')).toBe(false);
  await repo.git('pack-refs', '--all');
  expect(await register('two', 'taken')).toBe(false);
  writeFileSync(join(repo.commonDir, 'config.worktree'), '');
  expect(await register('three', null)).toBe(false);
  expect(readdirSync(repo.outside).sort()).toEqual(['repo', 'there']);
  expect(existsSync(join(repo.commonDir, 'worktrees'))).toBe(false);
});

test('what a dead process had begun is swept away, what a live one makes is not', async () => {
  const begun = (pid: number): string => join(repo.commonDir, `landfast-worktree-${pid}-x`);
  for (const pid of [process.pid, 2 ** 22]) mkdirSync(begun(pid));
  sweepBegun(repo.commonDir);
  expect([existsSync(begun(process.pid)), existsSync(begun(2 ** 22))]).toEqual([true, false]);
});
