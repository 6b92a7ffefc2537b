/** Merges in memory, and the repositories they must cope with. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conflictsOf, mergeTree } from '../../src/git/merge-tree.ts';
import { runGit, tempRepo } from '../support/temp-repo.ts';

test('branches that touch the same line conflict, and the file is named', async () => {
  await using repo = await tempRepo();
  const a = await repo.commit('task/a', { 'same.txt': 'mine\n' });
  const b = await repo.commit('task/b', { 'same.txt': 'yours\n' });
  const merged = await mergeTree(repo.dir, a, b, repo.signal);
  expect(merged).toEqual({
    kind: 'conflict',
    tree: expect.stringMatching(/^[0-9a-f]{40}$/),
    files: ['same.txt'],
    conflicts: [
      {
        path: 'same.txt',
        kind: 'both-added',
        base: null,
        ours: { mode: '100644', object: await repo.git('rev-parse', `${a}:same.txt`) },
        theirs: { mode: '100644', object: await repo.git('rev-parse', `${b}:same.txt`) },
      },
    ],
  });
  const text = await repo.git('show', `${merged.tree}:same.txt`);
  expect(text).toMatch(/^<{7} .*\nmine\n={7}\nyours\n>{7} /);
});

test('branches that touch different files merge cleanly, and no checkout is touched', async () => {
  await using repo = await tempRepo();
  const a = await repo.commit('task/a', { a: 'a\n' });
  const b = await repo.commit('task/b', { b: 'b\n' });
  const merged = await mergeTree(repo.commonDir, a, b, repo.signal);
  expect(merged.kind).toBe('clean');
  expect(await repo.git('ls-tree', '--name-only', merged.tree)).toBe('README.md\na\nb');
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test('conflicting paths of any name are told as they are', async () => {
  await using repo = await tempRepo();
  const names = ['"quoted"', 'sp ace', 'two\nlines', 'über/ß'];
  const files = (text: string) => Object.fromEntries(names.map((name) => [name, text]));
  const a = await repo.commit('a', files('1\n'));
  const b = await repo.commit('b', files('2\n'));
  expect(await mergeTree(repo.dir, a, b, repo.signal)).toMatchObject({
    kind: 'conflict',
    files: names,
  });
});

test('a file changed here and deleted there conflicts', async () => {
  await using repo = await tempRepo();
  const a = await repo.commit('a', { 'README.md': 'changed\n' });
  const b = await repo.commit('b', { 'README.md': null });
  expect(await mergeTree(repo.dir, a, b, repo.signal)).toMatchObject({
    kind: 'conflict',
    files: ['README.md'],
  });
});

test('a shallow clone merges what came after its edge', async () => {
  await using repo = await tempRepo();
  await repo.commit('main', { old: '' });
  const clone = join(repo.outside, 'clone');
  await repo.git('clone', '--quiet', '--depth', '1', `file://${repo.dir}`, clone);
  const make = async (name: string) => {
    const tree = await runGit(clone, ['rev-parse', 'HEAD^{tree}']);
    const blob = await runGit(clone, ['hash-object', '-w', '--stdin'], name);
    const entries = await runGit(clone, ['ls-tree', tree]);
    const changed = await runGit(clone, ['mktree'], `${entries}\n100644 blob ${blob}\t${name}\n`);
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    return runGit(clone, [...who, 'commit-tree', '-p', 'HEAD', '-m', name, changed]);
  };
  const merged = await mergeTree(clone, await make('x'), await make('y'), repo.signal);
  expect(merged.kind).toBe('clean');
});

test('a commit that does not exist is an error', async () => {
  await using repo = await tempRepo();
  await expect(mergeTree(repo.dir, 'main', '1'.repeat(40), repo.signal)).rejects.toMatchObject({
    name: 'GitError',
  });
});

/** Each is changed in the same line on both sides. */
const MERGED = [
  'union.txt',
  'binary.txt',
  'driver.txt',
  'nested/n.txt',
  'nested/u.txt',
  'plain.txt',
];

test('attributes decide as they do for `git merge` in a checkout of our side', async () => {
  const files = (text: string) => Object.fromEntries(MERGED.map((name) => [name, `0\n${text}`]));
  const attributes =
    'union.txt merge=union\nbinary.txt -merge\ndriver.txt merge=mine\n*u.txt -merge\n';
  await using repo = await tempRepo({
    files: {
      ...files('1\n'),
      '.gitattributes': attributes,
      'nested/.gitattributes': 'n.txt merge=union\nu.txt merge=union\n',
    },
  });
  await repo.git('config', 'merge.mine.driver', 'echo driven by %P > %A');
  // What their side says of attributes does not count.
  const theirs = { ...files('theirs\n'), '.gitattributes': `${attributes}plain.txt merge=union\n` };
  const b = await repo.commit('b', theirs);
  const a = await repo.commit('main', files('ours\n'));

  const merged = await mergeTree(repo.commonDir, a, b, repo.signal);
  const conflicts = ['binary.txt', 'plain.txt'];
  expect(merged).toMatchObject({ kind: 'conflict', files: conflicts });
  expect(await conflictsOf(repo.commonDir, [[a, b]], repo.signal)).toEqual([conflicts]);
  await repo.git('merge', '-q', 'b').catch(() => undefined);
  for (const name of MERGED.filter((each) => each !== 'plain.txt')) {
    const ours = `${await repo.git('show', `${merged.tree}:${name}`)}\n`;
    expect([name, ours]).toEqual([name, readFileSync(join(repo.dir, name), 'utf8')]);
  }
  const driven = await repo.git('show', `${merged.tree}:driver.txt`);
  expect(driven).toBe('driven by driver.txt');

  await repo.git('reset', '-q', '--hard');
  const later = await repo.commit('main', { '.gitattributes': null });
  const without = await mergeTree(repo.commonDir, later, b, repo.signal);
  expect(without).toMatchObject({
    kind: 'conflict',
    files: ['.gitattributes', 'binary.txt', 'driver.txt', 'plain.txt', 'union.txt'],
  });
});
