/** A user's checkout follows its branch, or is left exactly as it was. */

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fastForward } from '../../src/git/follow.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const read = (repo: TempRepo, name: string) => readFile(join(repo.dir, name), 'utf8');

test('a clean checkout follows, branch and files', async () => {
  await using repo = await tempRepo();
  const to = await repo.commit('topic', { new: 'text\n' });
  expect(await fastForward(repo.dir, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await read(repo, 'new')).toBe('text\n');
  expect(await repo.git('rev-parse', 'main')).toBe(to);
  expect(await fastForward(repo.dir, to, repo.signal)).toEqual({ kind: 'followed' });
});

test('unrelated changes stay and do not hinder', async () => {
  await using repo = await tempRepo({ files: { mine: 'a\n', theirs: 'a\n' } });
  const to = await repo.commit('topic', { theirs: 'b\n' });
  await repo.write({ mine: 'edited\n', untracked: 'x' });
  expect(await fastForward(repo.dir, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await read(repo, 'mine')).toBe('edited\n');
  expect(await repo.git('status', '--porcelain')).toBe('M mine\n?? untracked');
});

test.each([
  ['a changed file', { same: 'edited\n' }, 'same'],
  ['an untracked file', { new: 'mine\n' }, 'new'],
])('%s in the way is not touched', async (_, edit, name) => {
  await using repo = await tempRepo({ files: { same: 'a\n', other: 'a\n' } });
  await repo.git('config', 'merge.autoStash', 'true');
  const before = await repo.git('rev-parse', 'main');
  const to = await repo.commit('topic', { same: 'b\n', other: 'b\n', new: 'b\n' });
  await repo.write(edit as Record<string, string>);
  expect(await fastForward(repo.dir, to, repo.signal)).toEqual({
    kind: 'in-the-way',
    message: expect.stringContaining(name),
  });
  expect(await repo.git('rev-parse', 'main')).toBe(before);
  expect(await read(repo, name)).toBe(Object.values(edit)[0]);
  expect(await read(repo, 'other')).toBe('a\n');
});

test('a merge in progress is in the way', async () => {
  await using repo = await tempRepo();
  await repo.commit('side', { same: 'side\n' });
  await repo.commit('main', { same: 'main\n' });
  await repo.git('branch', 'topic');
  const to = await repo.commit('topic', { new: '' });
  await repo.git('merge', 'side').catch(() => {});
  expect(await fastForward(repo.dir, to, repo.signal)).toMatchObject({ kind: 'in-the-way' });
});

test('a checkout with commits of its own has diverged', async () => {
  await using repo = await tempRepo();
  const to = await repo.commit('topic', { a: '' });
  const mine = await repo.commit('main', { b: '' });
  expect(await fastForward(repo.dir, to, repo.signal)).toEqual({ kind: 'diverged' });
  expect(await repo.git('rev-parse', 'main')).toBe(mine);
});

test('line ends that are converted are not in the way', async () => {
  await using repo = await tempRepo({ files: { a: 'one\n' } });
  const clone = join(repo.outside, 'clone');
  await repo.git('clone', '--quiet', '--config', 'core.autocrlf=true', repo.dir, clone);
  const to = await repo.commit('main', { a: 'one\ntwo\n' });
  await runGit(clone, ['fetch', '--quiet']);
  expect(await fastForward(clone, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await readFile(join(clone, 'a'), 'utf8')).toBe('one\r\ntwo\r\n');
});

test('a failing post-merge hook does not change the answer', async () => {
  await using repo = await tempRepo();
  const to = await repo.commit('topic', { a: '' });
  await mkdir(join(repo.commonDir, 'hooks'), { recursive: true });
  const hook = join(repo.commonDir, 'hooks/post-merge');
  await writeFile(hook, '#!/bin/sh\ntouch ran\nexit 1\n');
  await chmod(hook, 0o755);
  expect(await fastForward(repo.dir, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await read(repo, 'ran')).toBe('');
});
