/** Refs move by compare-and-swap, and names are resolved without surprises. */

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  deleteRef,
  detachHead,
  headOf,
  headRefOf,
  isAncestor,
  readRef,
  resolveCommit,
  setRef,
  treeOf,
  updateRef,
} from '../../src/git/refs.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { withRepository } from '../support/with-repository.ts';

const REF = 'refs/heads/landfast/run';

describe.each([
  ['by commands', false],
  ['by processes that stay', true],
])('%s', (_, stays) => {
  const opened = (body: (repo: TempRepo) => Promise<void>) =>
    stays
      ? withRepository(body)
      : async () => {
          await using repo = await tempRepo();
          await body(repo);
        };

  test(
    'a ref is created, moved and deleted only from where it is',
    opened(async (repo) => {
      const { commonDir: dir, signal } = repo;
      const first = await repo.git('rev-parse', 'main');
      const second = await repo.commit('main', { a: '' });
      const update = (to: string, from: string | null) => updateRef(dir, REF, { to, from }, signal);

      expect(await readRef(dir, REF, signal)).toBe(null);
      expect(await update(second, first)).toEqual({ kind: 'lost', actual: null });
      expect(await update(first, null)).toEqual({ kind: 'moved' });
      expect(await update(second, null)).toEqual({ kind: 'lost', actual: first });
      expect(await update(first, second)).toEqual({ kind: 'lost', actual: first });
      expect(await update(second, first)).toEqual({ kind: 'moved' });
      expect(await readRef(dir, REF, signal)).toBe(second);

      expect(await deleteRef(dir, REF, first, signal)).toEqual({ kind: 'lost', actual: second });
      expect(await deleteRef(dir, REF, second, signal)).toEqual({ kind: 'moved' });
      expect(await deleteRef(dir, REF, second, signal)).toEqual({ kind: 'lost', actual: null });
    }),
  );

  test(
    'of many that move a ref at once from one place, exactly one wins',
    opened(async (repo) => {
      const { commonDir: dir, signal } = repo;
      const from = await repo.git('rev-parse', 'main');
      await setRef(dir, REF, from, signal);
      const commits = await Promise.all(
        [1, 2, 3, 4].map((n) => repo.commit(`b${n}`, { f: `${n}` })),
      );
      const results = await Promise.all(
        commits.map((to) => updateRef(dir, REF, { to, from }, signal)),
      );
      const winner = commits[results.findIndex((result) => result.kind === 'moved')];
      expect(results.filter((result) => result.kind === 'moved')).toHaveLength(1);
      expect(await readRef(dir, REF, signal)).toBe(winner);
    }),
  );

  test(
    'a ref that cannot exist is an error, and so is one that must not be moved',
    opened(async (repo) => {
      const { commonDir: dir, signal } = repo;
      const to = await repo.git('rev-parse', 'main');
      const impossible = updateRef(dir, 'refs/heads/main/below', { to, from: null }, signal);
      await expect(impossible).rejects.toMatchObject({ name: 'GitError' });
      const assertHeld = (): never => {
        throw new Error('another engine has it');
      };
      const late = updateRef(dir, REF, { to, from: null, assertHeld }, signal);
      await expect(late).rejects.toThrow('another engine has it');
      expect(await readRef(dir, REF, signal)).toBe(null);
    }),
  );

  test(
    'HEAD of a worktree is told, and taken off its branch',
    opened(async (repo) => {
      const { commonDir, signal } = repo;
      const path = join(repo.outside, 'one');
      const first = await repo.git('rev-parse', 'main');
      await addWorktree(commonDir, { path, branch: 'one', commit: first }, signal);
      const second = await repo.commit('two', { a: '' });
      expect([await headOf(path, signal), await headOf(repo.dir, signal)]).toEqual([first, first]);
      expect(await headRefOf(path, signal)).toBe('refs/heads/one');
      await detachHead(path, second, signal);
      expect([await headOf(path, signal), await headRefOf(path, signal)]).toEqual([second, null]);
      expect(await readRef(commonDir, 'refs/heads/one', signal)).toBe(first);
      await repo.git('-C', path, 'checkout', '-q', '--orphan', 'none');
      expect(await headOf(path, signal)).toBe(null);
    }),
  );

  test(
    'a tag with the name of a branch does not lie',
    opened(async (repo) => {
      const { commonDir, signal } = repo;
      const first = await repo.git('rev-parse', 'main');
      await repo.commit('main', { a: '' });
      await setRef(commonDir, REF, first, signal);
      for (const name of ['landfast/run', 'heads/landfast/run', REF]) await repo.git('tag', name);
      expect(await readRef(commonDir, REF, signal)).toBe(first);
    }),
  );
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
  for (const name of ['nothing', '--all', 'main:a', '']) expect(await resolve(name)).toBe(null);
});

test('ancestry and trees', async () => {
  await using repo = await tempRepo();
  const base = await repo.git('rev-parse', 'main');
  await repo.commit('topic', { a: '' });
  const b = await repo.commit('topic', { b: '' });
  await repo.git('merge', '-q', '--no-ff', '-m', 'merge', b);
  const merged = await repo.git('rev-parse', 'main');
  const isIn = (ancestor: string, of: string) => isAncestor(repo.dir, ancestor, of, repo.signal);
  expect(await isIn(base, b)).toBe(true);
  expect(await isIn(b, b)).toBe(true);
  expect(await isIn(b, merged)).toBe(true); // By its second parent.
  expect(await isIn(b, base)).toBe(false);
  expect(await isIn(base, 'main')).toBe(true);
  expect(await treeOf(repo.dir, b, repo.signal)).toBe(await repo.git('rev-parse', 'topic^{tree}'));
});

test(
  'where a commit is replaced, its tree and its ancestors are those that git sees',
  withRepository(async (repo) => {
    const first = await repo.git('rev-parse', 'main');
    const second = await repo.commit('main', { a: 'a\n' });
    const other = await repo.commit('other', { a: 'b\n' });
    await repo.git('replace', '--graft', other);
    const orphan = await repo.git('rev-parse', `refs/replace/${other}`);
    await repo.git('replace', second, orphan);
    const seen = await repo.git('rev-parse', `${other}^{tree}`);
    expect(await treeOf(repo.commonDir, second, repo.signal)).toBe(seen);
    expect(await isAncestor(repo.commonDir, first, second, repo.signal)).toBe(false);
  }),
);
