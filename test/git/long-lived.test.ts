/** Git processes that stay: what they answer, and that nothing depends on them. */

import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Runtime } from '../../src/base/runtime.ts';
import {
  Conversation,
  changesBetween,
  cleanMerge,
  nameOf,
  transact,
} from '../../src/git/long-lived.ts';
import { mergeTree } from '../../src/git/merge-tree.ts';
import { settingsIn } from '../../src/git/settings.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { withRepository } from '../support/with-repository.ts';

const MAIN = 'refs/heads/main';

test(
  'a name is looked up again after refs have moved and objects were packed',
  withRepository(async (repo) => {
    const { commonDir } = repo;
    const first = await repo.git('rev-parse', 'main');
    const tree = await repo.git('rev-parse', 'main^{tree}');
    expect(await nameOf(commonDir, MAIN)).toBe(first);
    expect(await nameOf(commonDir, `${first}^{tree}`)).toBe(tree);
    expect(await nameOf(commonDir, 'refs/heads/none')).toBe('none');
    expect(await nameOf(commonDir, '1'.repeat(40))).toBe('none');
    const second = await repo.commit('main', { a: 'a\n' });
    expect(await nameOf(commonDir, MAIN)).toBe(second);
    await repo.git('gc', '--quiet', '--prune=now');
    expect(await nameOf(commonDir, `${second}^{tree}`)).not.toBe(tree);
    const third = await repo.commit('main', { b: 'b\n' });
    await repo.git('repack', '-adq');
    await repo.git('pack-refs', '--all', '--prune');
    expect([await nameOf(commonDir, MAIN), await nameOf(commonDir, third)]).toEqual([third, third]);
  }),
);

test(
  'refs move together or not at all, and after a refusal others are moved',
  withRepository(async (repo) => {
    const { commonDir } = repo;
    const first = await repo.git('rev-parse', 'main');
    const second = await repo.commit('side', { a: '' });
    const update = (name: string, to: string, from: string) =>
      `update refs/x/${name} ${to} ${from}`;
    const none = '0'.repeat(40);
    expect(await transact(commonDir, [update('a', first, none), update('b', first, none)])).toBe(
      true,
    );
    expect(await transact(commonDir, [update('a', second, first), update('b', second, none)])).toBe(
      null,
    );
    expect(await nameOf(commonDir, 'refs/x/a')).toBe(first);
    expect(await transact(commonDir, [update('a', second, first)])).toBe(true);
    expect(await nameOf(commonDir, 'refs/x/a')).toBe(second);
  }),
);

test(
  'changed files are told as bytes, to each who asks at the same time',
  withRepository(async (repo) => {
    const { commonDir } = repo;
    const base = await repo.git('rev-parse', 'main');
    const odd = ['"quoted"', '--end--', 'end', 'tab\there', 'two\nlines', 'ü'];
    await repo.write(Object.fromEntries(odd.map((name) => [name, ''])));
    writeFileSync(
      Buffer.concat([Buffer.from(`${repo.dir}/`), Buffer.from('caf\xe9', 'latin1')]),
      '',
    );
    await repo.git('add', '-A');
    await repo.git('commit', '-qm', 'odd names');
    const head = await repo.git('rev-parse', 'main');
    const bytes = odd.map((name) => Buffer.from(name).toString('latin1'));
    const [there, same, back] = await Promise.all([
      changesBetween(commonDir, base, head),
      changesBetween(commonDir, head, head),
      changesBetween(commonDir, head, base),
    ]);
    expect(there?.toSorted()).toEqual([...bytes, 'caf\xe9'].toSorted());
    expect([same, back]).toEqual([[], there]);
  }),
);

test(
  'a merge gives the tree that `git merge-tree` gives, and says where there is none',
  withRepository(async (repo) => {
    const { commonDir, signal } = repo;
    const base = await repo.commit('main', { 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await repo.git('branch', 'one', base);
    await repo.git('branch', 'two', base);
    const one = await repo.commit('one', { 'a.txt': 'one\n' });
    const two = await repo.commit('two', { 'b.txt': 'two\n' });
    const other = await repo.commit('two', { 'a.txt': 'other\n' });
    const settings = await settingsIn(commonDir, signal);
    const merged = (await repo.git('merge-tree', '--write-tree', one, two)).trim();
    expect(await cleanMerge(commonDir, settings, [one, two])).toBe(merged);
    expect(await cleanMerge(commonDir, settings, [one, other])).toBe('conflict');
    expect(await cleanMerge(commonDir, settings, [one, two])).toBe(merged);
    expect(await mergeTree(commonDir, one, two, signal)).toEqual({ kind: 'clean', tree: merged });
    expect(await mergeTree(commonDir, one, other, signal)).toMatchObject({ files: ['a.txt'] });
    // No such commit: that process has ended, and an ordinary command merges from then on.
    expect(await cleanMerge(commonDir, settings, [one, '1'.repeat(40)])).toBe(null);
    expect(await cleanMerge(commonDir, settings, [one, two])).toBe(null);
    expect(await mergeTree(commonDir, one, two, signal)).toEqual({ kind: 'clean', tree: merged });
  }),
);

test(
  'a merge follows a setting that was changed after the merge before it',
  withRepository(async (repo) => {
    const { commonDir, signal } = repo;
    const base = await repo.commit('main', { 'old/a.txt': 'a\na\na\n', 'old/b.txt': 'b\nb\nb\n' });
    await repo.git('checkout', '-q', '-b', 'moves', base);
    await repo.git('mv', 'old', 'new');
    await repo.git('commit', '-qm', 'move the folder');
    const moves = await repo.git('rev-parse', 'HEAD');
    await repo.git('branch', 'adds', base);
    const adds = await repo.commit('adds', { 'old/c.txt': 'c\n' });
    const trees: string[] = [];
    for (const value of ['false', 'true']) {
      await repo.git('config', 'merge.directoryRenames', value);
      const settings = await settingsIn(commonDir, signal);
      trees.push((await cleanMerge(commonDir, settings, [moves, adds])) ?? 'no answer');
      expect(trees.at(-1)).toBe(await repo.git('merge-tree', '--write-tree', moves, adds));
    }
    expect(new Set(trees).size).toBe(2);
  }),
);

test('without an open process, or after it was closed, there is no answer', async () => {
  await using repo = await tempRepo();
  const { commonDir } = repo;
  const ask = async () => [
    await nameOf(commonDir, MAIN),
    await transact(commonDir, [`delete ${MAIN}`]),
    await changesBetween(commonDir, MAIN, MAIN),
  ];
  expect(await ask()).toEqual([null, null, null]);
  const runtime = new Runtime({ env: process.env, repository: { commonDir, dir: commonDir } });
  await runtime.enter(async () => {
    expect(await nameOf(commonDir, MAIN)).toBe(await repo.git('rev-parse', 'main'));
    await runtime[Symbol.asyncDispose]();
    expect(await ask()).toEqual([null, null, null]);
  });
  expect(await repo.git('rev-parse', 'main')).not.toBe('');
});

test('a killed process answers null from then on, and says why', async () => {
  await using repo = await tempRepo();
  // An alias tells its number and does not answer twice.
  const alias = `alias.hang=!echo $$; echo help >&2; read line; echo "$line"; exec sleep 300`;
  await using talk = new Conversation(repo.dir, ['-c', alias, 'hang']);
  const [pid = ''] = (await talk.read(() => true)) ?? [];
  expect(await talk.ask('one\n', (line) => line === 'one')).toEqual(['one']);
  const silent = talk.ask('two\n', (line) => line === 'two');
  process.kill(Number(pid), 'SIGKILL');
  expect([await silent, await talk.ask('three\n', () => true)]).toEqual([null, null]);
  expect([talk.isOver, talk.errors]).toEqual([true, expect.stringMatching(/^help\n.*signal 9/s)]);
});

test('one ends with its signal, and with its input', async () => {
  await using repo = await tempRepo();
  const stop = new AbortController();
  const args = ['cat-file', '--batch-check=%(objectname)'];
  const talk = new Conversation(repo.dir, args, { signal: stop.signal });
  stop.abort(new Error('enough'));
  expect(await talk.ended).toMatchObject({ kind: 'aborted' });
  expect(await talk.ask('HEAD\n', () => true)).toBe(null);
  const other = new Conversation(repo.dir, args);
  expect(await other.ask('HEAD\n', () => true)).toEqual([await repo.git('rev-parse', 'HEAD')]);
  await other[Symbol.asyncDispose]();
  expect(await other.ended).toEqual({ kind: 'exited', code: 0 });
});
