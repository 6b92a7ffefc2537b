/** Git processes that stay: what they answer, and that nothing depends on them. */

import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Conversation } from '../../src/git/conversation.ts';
import {
  changesBetween,
  closeLongLived,
  nameOf,
  openLongLived,
  transact,
} from '../../src/git/long-lived.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const MAIN = 'refs/heads/main';

/** A repository for which they are open. */
async function opened(): Promise<TempRepo> {
  const repo = await tempRepo();
  openLongLived(repo);
  const close = async (): Promise<void> => {
    await closeLongLived(repo.commonDir);
    await repo[Symbol.asyncDispose]();
  };
  return { ...repo, [Symbol.asyncDispose]: close };
}

test('a name is looked up anew after refs have moved and objects were packed', async () => {
  await using repo = await opened();
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
});

test('refs move together or not at all, and after a refusal others are moved', async () => {
  await using repo = await opened();
  const { commonDir } = repo;
  const first = await repo.git('rev-parse', 'main');
  const second = await repo.commit('side', { a: '' });
  const update = (name: string, to: string, from: string) => `update refs/x/${name} ${to} ${from}`;
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
});

test('changed files are told as bytes, to each who asks at the same time', async () => {
  await using repo = await opened();
  const { commonDir } = repo;
  const base = await repo.git('rev-parse', 'main');
  const odd = ['"quoted"', '--end--', 'end', 'tab\there', 'two\nlines', 'ü'];
  await repo.write(Object.fromEntries(odd.map((name) => [name, ''])));
  writeFileSync(Buffer.concat([Buffer.from(`${repo.dir}/`), Buffer.from('caf\xe9', 'latin1')]), '');
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
});

test('where none is open, or one was closed, there is no answer', async () => {
  await using repo = await tempRepo();
  const { commonDir } = repo;
  const ask = async () => [
    await nameOf(commonDir, MAIN),
    await transact(commonDir, [`delete ${MAIN}`]),
    await changesBetween(commonDir, MAIN, MAIN),
  ];
  expect(await ask()).toEqual([null, null, null]);
  openLongLived({ commonDir, dir: commonDir });
  expect(await nameOf(commonDir, MAIN)).toBe(await repo.git('rev-parse', 'main'));
  await closeLongLived(commonDir);
  expect(await ask()).toEqual([null, null, null]);
  expect(await repo.git('rev-parse', 'main')).not.toBe('');
});

test('one that is killed answers null from then on, and says why', async () => {
  await using repo = await tempRepo();
  // An alias tells its number and does not answer twice.
  const alias = `alias.hang=!echo $$; echo help >&2; read line; echo "$line"; exec sleep 300`;
  await using talk = new Conversation(repo.dir, ['-c', alias, 'hang']);
  const [pid = ''] = (await talk.hear(() => true)) ?? [];
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
  const talk = new Conversation(repo.dir, args, stop.signal);
  stop.abort(new Error('enough'));
  expect(await talk.ended).toMatchObject({ kind: 'aborted' });
  expect(await talk.ask('HEAD\n', () => true)).toBe(null);
  const other = new Conversation(repo.dir, args);
  expect(await other.ask('HEAD\n', () => true)).toEqual([await repo.git('rev-parse', 'HEAD')]);
  await other[Symbol.asyncDispose]();
  expect(await other.ended).toEqual({ kind: 'exited', code: 0 });
});
