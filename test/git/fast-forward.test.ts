/** A user's checkout follows its branch, or is left exactly as it was. */

import { mkdir, readFile, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fastForward } from '../../src/git/fast-forward.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const read = (repo: TempRepo, name: string) => readFile(join(repo.dir, name), 'utf8');

test('a clean checkout follows, branch and files', async () => {
  await using repo = await tempRepo();
  const to = await repo.commit('topic', { new: 'text\n' });
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await read(repo, 'new')).toBe('text\n');
  expect(await repo.git('rev-parse', 'main')).toBe(to);
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'followed' });
});

test('unrelated changes stay and do not hinder', async () => {
  await using repo = await tempRepo({ files: { mine: 'a\n', theirs: 'a\n' } });
  const to = await repo.commit('topic', { theirs: 'b\n' });
  await repo.write({ mine: 'edited\n', untracked: 'x' });
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await read(repo, 'mine')).toBe('edited\n');
  expect(await repo.git('status', '--porcelain')).toBe('M mine\n?? untracked');
});

test.each([
  ['a changed file', { same: 'edited\n' }, 'same'],
  ['an untracked file', { new: 'mine\n' }, 'new'],
  ['an ignored file', { 'new.local': 'mine\n' }, 'new.local'],
])('%s in the way is not touched', async (_, edit, name) => {
  const ignore = { '.gitignore': '*.local\n' };
  await using repo = await tempRepo({ files: { same: 'a\n', other: 'a\n', ...ignore } });
  await repo.git('config', 'merge.autoStash', 'true');
  const before = await repo.git('rev-parse', 'main');
  const changes = { same: 'b\n', other: 'b\n', new: 'b\n', 'new.local': 'b\n' };
  const to = await repo.commit('topic', changes);
  await repo.write(edit as Record<string, string>);
  expect(await fastForward(repo, to, repo.signal)).toEqual({
    kind: 'in-the-way',
    files: [name],
  });
  expect(await repo.git('rev-parse', 'main')).toBe(before);
  expect(await read(repo, name)).toBe(Object.values(edit)[0]);
  expect(await read(repo, 'other')).toBe('a\n');
});

test('a merge in progress is reported', async () => {
  await using repo = await tempRepo();
  await repo.commit('side', { same: 'side\n' });
  await repo.commit('main', { same: 'main\n' });
  await repo.git('branch', 'topic');
  const to = await repo.commit('topic', { new: '' });
  await repo.git('merge', 'side').catch(() => {});
  expect(await fastForward(repo, to, repo.signal)).toMatchObject({
    kind: 'failed',
    why: 'A merge is in progress there.',
  });
});

test('a checkout with commits of its own has diverged', async () => {
  await using repo = await tempRepo();
  const to = await repo.commit('topic', { a: '' });
  const mine = await repo.commit('main', { b: '' });
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'diverged' });
  expect(await repo.git('rev-parse', 'main')).toBe(mine);
});

test('line ends that are converted are not in the way', async () => {
  await using repo = await tempRepo({ files: { a: 'one\n' } });
  const clone = join(repo.outside, 'clone');
  await repo.git('clone', '--quiet', '--config', 'core.autocrlf=true', repo.dir, clone);
  const to = await repo.commit('main', { a: 'one\ntwo\n' });
  await runGit(clone, ['fetch', '--quiet']);
  expect(
    await fastForward({ dir: clone, commonDir: join(clone, '.git') }, to, repo.signal),
  ).toEqual({ kind: 'followed' });
  expect(await readFile(join(clone, 'a'), 'utf8')).toBe('one\r\ntwo\r\n');
});

/** Installs a hook with this script. */
async function hook(repo: TempRepo, name: string, script: string): Promise<void> {
  await mkdir(join(repo.commonDir, 'hooks'), { recursive: true });
  await writeFile(join(repo.commonDir, 'hooks', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

test('a failing post-merge hook does not change the answer', async () => {
  await using repo = await tempRepo();
  const to = await repo.commit('topic', { a: '' });
  await hook(repo, 'post-merge', 'touch ran; exit 1');
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await read(repo, 'ran')).toBe('');
});

test('a hook that refuses is quoted, and files and index are as they were', async () => {
  await using repo = await tempRepo({ files: { mine: 'a\n', same: 'a\n' } });
  const before = await repo.git('rev-parse', 'main');
  const to = await repo.commit('topic', { same: 'b\n', new: 'b\n' });
  await repo.write({ mine: 'edited\n', untracked: 'x' });
  const script = 'grep -q " refs/heads/main$" || exit 0; echo "not now" >&2; test $1 != prepared';
  await hook(repo, 'reference-transaction', script);
  const answer = { kind: 'refused', said: 'not now' };
  expect(await fastForward(repo, to, repo.signal)).toEqual(answer);
  expect(await repo.git('status', '--porcelain')).toBe('M mine\n?? untracked');
  expect(await repo.git('rev-parse', 'main')).toBe(before);
});

test('a file of the user where a folder would be, and the other way round, are in the way', async () => {
  const ignore = { '.gitignore': '*.local\n/new\n' };
  await using repo = await tempRepo({ files: { 'old/a': 'a\n', ...ignore } });
  const to = await repo.commit('topic', { 'new/a': 'b\n', 'old/a': null, old: 'b\n' });
  await repo.write({ new: 'mine\n', 'old/b.local': 'mine\n' });
  expect(await fastForward(repo, to, repo.signal)).toEqual({
    kind: 'in-the-way',
    files: ['new', 'old/b.local'],
  });
  expect(await read(repo, 'old/b.local')).toBe('mine\n');
  await rm(join(repo.dir, 'new'));
  await rm(join(repo.dir, 'old/b.local'));
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test('a link of the user where a folder would be is in the way, wherever it leads', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': 'data\ngone\n' } });
  const to = await repo.commit('topic', { 'data/deep/x': 'b\n', 'gone/x': 'b\n' });
  await mkdir(join(repo.outside, 'store'));
  await symlink('../store', join(repo.dir, 'data'));
  await symlink('nowhere', join(repo.dir, 'gone'));
  expect(await fastForward(repo, to, repo.signal)).toEqual({
    kind: 'in-the-way',
    files: ['data', 'gone'],
  });
  expect(await readlink(join(repo.dir, 'data'))).toBe('../store');
});

test('a link that the commit replaces by a folder is not in the way', async () => {
  await using repo = await tempRepo();
  await symlink('nowhere', join(repo.dir, 'data'));
  await repo.commit('main', {});
  const to = await repo.commit('topic', { data: null, 'data/x': 'b\n' });
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await read(repo, 'data/x')).toBe('b\n');
});

/** A commit on `main` with files whose names are bytes, given as latin1. */
async function commitOfBytes(repo: TempRepo, names: readonly string[]): Promise<string> {
  const octal = (name: string) =>
    name.replace(/[\x80-\xff]/g, (each) => `\\${each.charCodeAt(0).toString(8)}`);
  const lines = names.map((name) => `M 100644 inline "${octal(name)}"\ndata 2\nb\n`);
  const committer = 'committer Ada Lovelace <ada@example.com> now\n';
  const head = `commit refs/heads/bytes\n${committer}data 0\nfrom refs/heads/main^0\n`;
  const args = ['fast-import', '--quiet', '--date-format=now'];
  await runGit(repo.dir, args, `${head}${lines.join('')}`);
  return repo.git('rev-parse', 'bytes');
}

test.each([
  ['read by us', {}],
  ['read by git', { '.gitattributes': '' }],
])('an ignored file is in the way whose name is no text, %s', async (_, more) => {
  const files = { '.gitignore': '*.log\n', ...(more as Record<string, string>) };
  await using repo = await tempRepo({ files });
  const to = await commitOfBytes(repo, ['caf\xe9.log', 'd\xe9/x', 'f\xe9.log']);
  const at = (name: string) => Buffer.from(`${repo.dir}/${name}`, 'latin1');
  await writeFile(at('caf\xe9.log'), 'mine\n');
  await mkdir(at('f\xe9.log'));
  await writeFile(at('f\xe9.log/a'), 'mine\n');
  expect(await fastForward(repo, to, repo.signal)).toEqual({
    kind: 'in-the-way',
    files: ['caf\ufffd.log', 'f\ufffd.log/a'],
  });
  expect(await readFile(at('caf\xe9.log'), 'utf8')).toBe('mine\n');
  await rm(at('caf\xe9.log'));
  await rm(at('f\xe9.log'), { recursive: true });
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await readFile(at('d\xe9/x'), 'utf8')).toBe('b\n');
});

test('of many folders that become files the last is looked at, too', async () => {
  const names = Array.from({ length: 250 }, (_, at) => `f${String(at).padStart(3, '0')}`);
  const files = Object.fromEntries(names.map((name) => [`${name}/a`, 'a\n']));
  await using repo = await tempRepo({ files: { ...files, '.gitignore': '*.local\n' } });
  const gone = names.map((name) => [`${name}/a`, null]);
  const made = names.map((name) => [name, 'b\n']);
  const to = await repo.commit('topic', Object.fromEntries([...gone, ...made]));
  await repo.write({ 'f249/mine.local': 'mine\n' });
  expect(await fastForward(repo, to, repo.signal)).toEqual({
    kind: 'in-the-way',
    files: ['f249/mine.local'],
  });
  expect(await read(repo, 'f249/mine.local')).toBe('mine\n');
});

test('a file in an ignored repository of the user is in the way', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': 'vendor\n' } });
  const to = await repo.commit('topic', { 'vendor/x': 'b\n' });
  await runGit(repo.outside, ['init', '--quiet', join(repo.dir, 'vendor')]);
  await repo.write({ 'vendor/x': 'mine\n' });
  const answer = { kind: 'in-the-way', files: ['vendor/x'] };
  expect(await fastForward(repo, to, repo.signal)).toEqual(answer);
  expect(await read(repo, 'vendor/x')).toBe('mine\n');
});

test('a file that was only touched, and one that is staged as it will be, are not in the way', async () => {
  await using repo = await tempRepo({ files: { touched: 'a\n', staged: 'a\n' } });
  const to = await repo.commit('topic', { touched: 'b\n', staged: 'b\n', both: 'b\n' });
  await repo.write({ touched: 'a\n', staged: 'b\n', both: 'b\n' });
  await utimes(join(repo.dir, 'touched'), 1, 1);
  await repo.git('add', 'staged', 'both');
  expect(await fastForward(repo, to, repo.signal)).toEqual({ kind: 'followed' });
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test('of many at the same time one is first, the others have diverged, and nothing is mixed up', async () => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, 'a\n']));
  await using repo = await tempRepo({ files });
  const names = ['one', 'two', 'three', 'four'];
  const tips = await Promise.all(names.map((name) => repo.commit(name, { [name]: 'b\n' })));
  const base = await repo.git('rev-parse', 'main');
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(tips.map((to) => fastForward(repo, to, repo.signal)));
    expect(answers.map(({ kind }) => kind).sort()).toEqual([
      ...['diverged', 'diverged', 'diverged', 'followed'],
    ]);
    expect(await repo.git('status', '--porcelain')).toBe('');
    await repo.git('reset', '--quiet', '--hard', base);
  }
});
