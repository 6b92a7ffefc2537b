/** Refs move by compare-and-swap, and names are resolved without surprises. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writesPlainly } from '../../src/git/loose-object.ts';
import {
  deleteRef,
  isAncestor,
  readRef,
  resolveCommit,
  tipOf,
  treeOf,
  updateRef,
} from '../../src/git/refs.ts';
import { tempRepo } from '../support/temp-repo.ts';

const REF = 'refs/heads/landfast/run';

test('a ref is created, moved and deleted only from where it is', async () => {
  await using repo = await tempRepo();
  const first = await repo.git('rev-parse', 'main');
  const second = await repo.commit('main', { a: '' });
  const update = (to: string, from: string | null) =>
    updateRef(repo.dir, REF, { to, from }, repo.signal);

  expect(await readRef(repo.dir, REF, repo.signal)).toBe(null);
  expect(await update(second, first)).toEqual({ kind: 'lost', actual: null });
  expect(await update(first, null)).toEqual({ kind: 'moved' });
  expect(await update(second, null)).toEqual({ kind: 'lost', actual: first });
  expect(await update(first, second)).toEqual({ kind: 'lost', actual: first });
  expect(await update(second, first)).toEqual({ kind: 'moved' });
  expect(await readRef(repo.dir, REF, repo.signal)).toBe(second);

  expect(await deleteRef(repo.dir, REF, first, repo.signal)).toEqual({
    kind: 'lost',
    actual: second,
  });
  expect(await deleteRef(repo.dir, REF, second, repo.signal)).toEqual({ kind: 'moved' });
  expect(await deleteRef(repo.dir, REF, second, repo.signal)).toEqual({
    kind: 'lost',
    actual: null,
  });
});

test('of many that move a ref at once from one place, exactly one wins', async () => {
  await using repo = await tempRepo();
  const from = await repo.git('rev-parse', 'main');
  await updateRef(repo.dir, REF, { to: from, from: null }, repo.signal);
  const commits = await Promise.all(
    Array.from({ length: 8 }, (_, n) => repo.commit(`b${n}`, { [`f${n}`]: '' })),
  );
  const results = await Promise.all(
    commits.map((to) => updateRef(repo.dir, REF, { to, from }, repo.signal)),
  );
  const winner = commits[results.findIndex((result) => result.kind === 'moved')];
  expect(results.filter((result) => result.kind === 'moved')).toHaveLength(1);
  expect(await readRef(repo.dir, REF, repo.signal)).toBe(winner);
});

test('a ref that cannot exist is an error, not a lost race', async () => {
  await using repo = await tempRepo();
  const to = await repo.git('rev-parse', 'main');
  const impossible = updateRef(repo.dir, 'refs/heads/main/below', { to, from: null }, repo.signal);
  await expect(impossible).rejects.toMatchObject({ name: 'GitError' });
});

test('names are resolved to commits, and what is no commit is null', async () => {
  await using repo = await tempRepo();
  const first = await repo.git('rev-parse', 'main');
  const second = await repo.commit('main', { a: '' });
  await repo.git('tag', '--annotate', '--message', 'x', 'v1');
  const resolve = (name: string) => resolveCommit(repo.dir, name, repo.signal);
  expect(await resolve('main')).toBe(second);
  expect(await resolve('v1')).toBe(second);
  expect(await resolve('HEAD~1')).toBe(first);
  expect(await resolve(first.slice(0, 10))).toBe(first);
  expect(await resolve('nothing')).toBe(null);
  expect(await resolve('--all')).toBe(null);
  expect(await resolve('main:a')).toBe(null);
  expect(await resolve('')).toBe(null);
});

test('what files tell of a ref is what git says, packed or not', async () => {
  await using repo = await tempRepo();
  await repo.commit('team/a', { a: '' });
  await repo.commit('team/b', { b: '' });
  await repo.git('symbolic-ref', 'refs/heads/same', 'refs/heads/main');
  const refs = ['main', 'same', 'team', 'team/a', 'team/b', 'team/c', 'eam/a'];
  const expectAlike = async () => {
    for (const ref of refs.map((name) => `refs/heads/${name}`)) {
      const said = await readRef(repo.dir, ref, repo.signal);
      expect([ref, await tipOf(repo.commonDir, ref, repo.signal)]).toEqual([ref, said]);
    }
  };
  await expectAlike();
  await repo.git('pack-refs', '--all');
  await expectAlike();
  await repo.commit('team/b', { b: 'newer than what is packed' });
  await repo.git('update-ref', '-d', 'refs/heads/team/a');
  await expectAlike();
});

test('ancestry and trees', async () => {
  await using repo = await tempRepo();
  const base = await repo.git('rev-parse', 'main');
  await repo.commit('topic', { a: '' });
  const b = await repo.commit('topic', { b: '' });
  await repo.git('checkout', '-q', 'main');
  await repo.git('merge', '-q', '--no-ff', '-m', 'merge', b);
  const merged = await repo.git('rev-parse', 'main');
  for (const dir of [repo.dir, repo.commonDir]) {
    expect(await isAncestor(dir, base, b, repo.signal)).toBe(true);
    expect(await isAncestor(dir, b, b, repo.signal)).toBe(true);
    expect(await isAncestor(dir, b, merged, repo.signal)).toBe(true); // By its second parent.
    expect(await isAncestor(dir, b, base, repo.signal)).toBe(false);
    expect(await isAncestor(dir, base, 'main', repo.signal)).toBe(true);
  }
  expect(await treeOf(repo.dir, b, repo.signal)).toBe(await repo.git('rev-parse', 'topic^{tree}'));
});

test.each([
  ['a ref', []],
  ['a packed ref', ['pack-refs', '--all', '--prune']],
])(
  'where %s replaces a commit, its tree and its ancestors are those that git sees',
  async (_, more) => {
    await using repo = await tempRepo();
    const first = await repo.git('rev-parse', 'main');
    const second = await repo.commit('main', { a: 'a\n' });
    const tree = await repo.git('rev-parse', 'main^{tree}');
    const other = await repo.commit('other', { a: 'b\n' });
    await repo.git('replace', '--graft', other);
    const orphan = await repo.git('rev-parse', `refs/replace/${other}`);
    await repo.git('replace', '-d', other);
    await repo.git('replace', second, orphan);
    if (more.length > 0) await repo.git(...more);
    if (more.length > 0) await rm(join(repo.commonDir, 'refs/replace'), { recursive: true });
    const seen = await repo.git('rev-parse', 'main^{tree}');
    expect(seen).not.toBe(tree);
    expect(await treeOf(repo.commonDir, second, repo.signal)).toBe(seen);
    expect(await isAncestor(repo.commonDir, first, second, repo.signal)).toBe(false);
    expect(await writesPlainly(repo.commonDir, repo.signal)).toBe(false);
  },
);

test('where a graft gives a commit other parents, ancestors are those that git sees', async () => {
  await using repo = await tempRepo();
  const first = await repo.git('rev-parse', 'main');
  const second = await repo.commit('main', { a: 'a\n' });
  await repo.write({ '.git/info/grafts': `${second}\n` });
  expect(await isAncestor(repo.commonDir, first, second, repo.signal)).toBe(false);
  expect(await writesPlainly(repo.commonDir, repo.signal)).toBe(false);
});
