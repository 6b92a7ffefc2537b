/** Worktrees, alone and many at once. */

import { access, chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll } from '../../src/git/commit.ts';
import { changedFiles } from '../../src/git/diff.ts';
import { readRef } from '../../src/git/refs.ts';
import {
  addWorktree,
  checkoutOf,
  listWorktrees,
  parseWorktrees,
  removeWorktree,
  sweepRemoved,
} from '../../src/git/worktree.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const head = (repo: TempRepo) => repo.git('rev-parse', 'HEAD');

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

test('a worktree holds the commit, is listed, and goes without a trace', async () => {
  await using repo = await tempRepo({ files: { 'a b/ü.txt': 'text\n' } });
  const commit = await head(repo);
  const path = join(repo.outside, 'tree one');

  await addWorktree(repo.commonDir, { path, branch: 'task/x', commit }, repo.signal);
  expect(await readFile(join(path, 'a b/ü.txt'), 'utf8')).toBe('text\n');
  expect(await listWorktrees(repo, repo.signal)).toEqual([
    { path: repo.dir, head: commit, branch: 'main', locked: false, prunable: false },
    { path, head: commit, branch: 'task/x', locked: false, prunable: false },
  ]);
  expect(await checkoutOf(repo, 'task/x', repo.signal)).toBe(path);
  expect(await checkoutOf(repo, 'task', repo.signal)).toBe(null);

  await removeWorktree(repo.commonDir, path, repo.signal);
  expect(await listWorktrees(repo, repo.signal)).toHaveLength(1);
  expect(await readdir(repo.outside)).toEqual(['repo']);
  expect(await readRef(repo.dir, 'refs/heads/task/x', repo.signal)).toBe(commit);
});

test('without a branch HEAD is detached at exactly that commit, though main moves on', async () => {
  await using repo = await tempRepo();
  const commit = await head(repo);
  await repo.commit('main', { later: '' });
  const path = join(repo.outside, 'tree');
  await addWorktree(repo.commonDir, { path, branch: null, commit }, repo.signal);
  const [, worktree] = await listWorktrees(repo, repo.signal);
  expect(worktree).toMatchObject({ path, head: commit, branch: null });
  expect(await changedFiles(path, commit, repo.signal)).toEqual([]);
});

test('an existing branch is used if it is at that commit, and never moved', async () => {
  await using repo = await tempRepo();
  const commit = await head(repo);
  const other = await repo.commit('elsewhere', { a: '' });
  await repo.git('branch', 'here');
  const add = (branch: string) =>
    addWorktree(repo.commonDir, { path: join(repo.outside, branch), branch, commit }, repo.signal);

  await add('here');
  expect(await checkoutOf(repo, 'here', repo.signal)).toBe(join(repo.outside, 'here'));
  await expect(add('elsewhere')).rejects.toThrow(`exists already, at ${other}`);
  expect(await readRef(repo.dir, 'refs/heads/elsewhere', repo.signal)).toBe(other);
});

test('a worktree whose folder was lost can be added again, or forgotten', async () => {
  await using repo = await tempRepo();
  const commit = await head(repo);
  const path = join(repo.outside, 'tree');
  const worktree = { path, branch: 'x', commit };
  await addWorktree(repo.commonDir, worktree, repo.signal);
  await rm(path, { recursive: true });
  expect((await listWorktrees(repo, repo.signal))[1]).toMatchObject({ path, prunable: true });
  expect(await checkoutOf(repo, 'x', repo.signal)).toBe(null);

  await addWorktree(repo.commonDir, worktree, repo.signal);
  expect(await exists(join(path, 'README.md'))).toBe(true);
  await rm(path, { recursive: true });
  await removeWorktree(repo.commonDir, path, repo.signal);
  expect(await listWorktrees(repo, repo.signal)).toHaveLength(1);
  await removeWorktree(repo.commonDir, path, repo.signal); // Nothing to do is fine.
});

test('a folder that is not a worktree of the repository is never removed', async () => {
  await using repo = await tempRepo();
  await using other = await tempRepo();
  await using third = await tempRepo();
  const foreign = join(other.outside, 'foreign');
  await other.git('worktree', 'add', '--quiet', foreign);
  await writeFiles(repo.outside, { 'folder/precious': '' });
  for (const path of [repo.dir, third.dir, foreign, join(repo.outside, 'folder')]) {
    await expect(removeWorktree(repo.commonDir, path, repo.signal)).rejects.toThrow(
      'is not a worktree of',
    );
    expect(await exists(path)).toBe(true);
  }
});

test('an aborted addWorktree leaves nothing', async () => {
  await using repo = await tempRepo();
  const stop = new AbortController();
  await hook(repo, 'post-checkout', 'touch "$0.started"; exec sleep 300');
  const path = join(repo.outside, 'tree');
  const adding = addWorktree(
    repo.commonDir,
    { path, branch: null, commit: await head(repo) },
    stop.signal,
  );
  const started = join(repo.commonDir, 'hooks/post-checkout.started');
  await expect.poll(() => exists(started), { timeout: 60_000 }).toBe(true);
  stop.abort(new Error('enough'));
  await expect(adding).rejects.toThrow('enough');
  expect(await exists(path)).toBe(false);
  expect(await listWorktrees(repo, repo.signal)).toHaveLength(1);
});

test('the post-checkout hook runs as for a new worktree, and may fail', async () => {
  await using repo = await tempRepo();
  const commit = await head(repo);
  await hook(repo, 'post-checkout', 'echo "$@" > prepared; exit 1');
  const path = join(repo.outside, 'tree');
  await addWorktree(repo.commonDir, { path, branch: null, commit }, repo.signal);
  expect(await readFile(join(path, 'prepared'), 'utf8')).toBe(`${'0'.repeat(40)} ${commit} 1\n`);
});

test('the remains of an interrupted removal are swept', async () => {
  await using repo = await tempRepo();
  await writeFiles(repo.outside, { 'trees/.removed/tree-1/file': '' });
  await sweepRemoved(join(repo.outside, 'trees'), repo.signal);
  expect(await readdir(join(repo.outside, 'trees'))).toEqual([]);
});

test('many worktrees are added and removed at once', async () => {
  await using repo = await tempRepo({ files: many(50) });
  const commit = await head(repo);
  const trees = Array.from({ length: 8 }, (_, n) => join(repo.outside, 'trees', `t${n}`));
  const cycle = async (path: string, n: number) => {
    await addWorktree(repo.commonDir, { path, branch: `task/${n}`, commit }, repo.signal);
    expect(await changedFiles(path, commit, repo.signal)).toEqual([]);
    await removeWorktree(repo.commonDir, path, repo.signal);
    await addWorktree(repo.commonDir, { path, branch: null, commit }, repo.signal);
  };
  await Promise.all(trees.map(cycle));
  expect(await listWorktrees(repo, repo.signal)).toHaveLength(9);
  await Promise.all(trees.map((path) => removeWorktree(repo.commonDir, path, repo.signal)));
  expect(await listWorktrees(repo, repo.signal)).toHaveLength(1);
  expect(await readdir(join(repo.outside, 'trees'))).toEqual([]);
});

test('many worktrees commit at once and none is lost', async () => {
  await using repo = await tempRepo();
  const commit = await head(repo);
  const results = await Promise.all(
    Array.from({ length: 6 }, async (_, n) => {
      const path = join(repo.outside, `t${n}`);
      await addWorktree(repo.commonDir, { path, branch: `task/${n}`, commit }, repo.signal);
      const commits: unknown[] = [];
      for (let round = 0; round < 3; round++) {
        await writeFile(join(path, `file-${n}-${round}`), 'text');
        commits.push(await commitAll(path, { message: `${n}.${round}` }, repo.signal));
      }
      const tip = await readRef(repo.dir, `refs/heads/task/${n}`, repo.signal);
      expect(commits.at(-1)).toEqual({ kind: 'committed', commit: tip });
      return repo.git('rev-list', '--count', `${commit}..task/${n}`);
    }),
  );
  expect(results).toEqual(Array(6).fill('3'));
});

test('a worktree of a repository with a submodule lives a whole life', async () => {
  await using repo = await tempRepo();
  await using inner = await tempRepo();
  const allow = ['-c', 'protocol.file.allow=always'];
  await repo.git(...allow, 'submodule', '--quiet', 'add', inner.dir, 'sub');
  const commit = await repo.commit('main', {});
  const path = join(repo.outside, 'tree');
  await addWorktree(repo.commonDir, { path, branch: 'task', commit }, repo.signal);
  expect(await changedFiles(path, commit, repo.signal)).toEqual([]);

  await runGit(path, [...allow, 'submodule', '--quiet', 'update', '--init']);
  await runGit(join(path, 'sub'), ['checkout', '--quiet', '-b', 'work']);
  await writeFile(join(path, 'sub/new'), '');
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  await runGit(join(path, 'sub'), ['add', '.']);
  await runGit(join(path, 'sub'), [...identity, 'commit', '--quiet', '--message', 'Inner']);
  await writeFile(join(path, 'outer'), '');
  expect(await changedFiles(path, commit, repo.signal)).toEqual(['outer', 'sub']);
  expect(await commitAll(path, { message: 'Outer' }, repo.signal)).toMatchObject({
    kind: 'committed',
  });
  await removeWorktree(repo.commonDir, path, repo.signal);
  expect(await listWorktrees(repo, repo.signal)).toHaveLength(1);
});

test('a bare repository has several worktrees', async () => {
  await using repo = await tempRepo();
  const bare = join(repo.outside, 'proj/.bare');
  await repo.git('clone', '--quiet', '--bare', repo.dir, bare);
  const commit = await head(repo);
  const [a, b] = [join(repo.outside, 'proj/a'), join(repo.outside, 'proj/b')];
  await addWorktree(bare, { path: a, branch: 'a', commit }, repo.signal);
  await addWorktree(bare, { path: b, branch: null, commit }, repo.signal);
  expect(await listWorktrees({ commonDir: bare, dir: a }, repo.signal)).toEqual([
    { path: bare, head: null, branch: null, locked: false, prunable: false },
    { path: a, head: commit, branch: 'a', locked: false, prunable: false },
    { path: b, head: commit, branch: null, locked: false, prunable: false },
  ]);
  await removeWorktree(bare, a, repo.signal);
  await removeWorktree(bare, b, repo.signal);
  expect(await listWorktrees({ commonDir: bare }, repo.signal)).toHaveLength(1);
});

test('a checkout whose git folder is elsewhere is told, not that folder', async () => {
  await using repo = await tempRepo();
  const [dir, linked] = [join(repo.outside, 'apart'), join(repo.outside, 'linked')];
  const commonDir = join(repo.outside, 'store');
  await repo.git('clone', '--quiet', '--separate-git-dir', commonDir, repo.dir, dir);
  const commit = await head(repo);
  await addWorktree(commonDir, { path: linked, branch: 'side', commit }, repo.signal);
  const at = (place: { readonly dir?: string }) =>
    checkoutOf({ commonDir, ...place }, 'main', repo.signal);
  expect(await at({ dir })).toBe(dir);
  // Nothing tells where it is; but the folder of git is none in which files can be written.
  expect([await at({}), await at({ dir: linked })]).toEqual([null, null]);
});

test('the checkout of a submodule is told, from wherever it is asked for', async () => {
  await using repo = await tempRepo();
  const inner = join(repo.outside, 'inner');
  await repo.git('clone', '--quiet', repo.dir, inner);
  const allow = ['-c', 'protocol.file.allow=always'];
  await repo.git(...allow, 'submodule', '--quiet', 'add', '-b', 'main', inner, 'sub');
  const commonDir = join(repo.commonDir, 'modules/sub');
  expect(await checkoutOf({ commonDir }, 'main', repo.signal)).toBe(join(repo.dir, 'sub'));
});

test('a locked worktree and a path with spaces and newlines are read as they are', () => {
  const listed = 'worktree /a b\nc\0HEAD 12\0branch refs/heads/x/y\0locked by me\0\0';
  expect(parseWorktrees(listed)).toEqual([
    { path: '/a b\nc', head: '12', branch: 'x/y', locked: true, prunable: false },
  ]);
});

function many(count: number): Readonly<Record<string, string>> {
  const names = Array.from({ length: count }, (_, n) => `dir${n % 10}/file${n}`);
  return Object.fromEntries(names.map((name) => [name, `${name}\n`]));
}

async function hook(repo: TempRepo, name: string, text: string): Promise<void> {
  const file = join(repo.commonDir, 'hooks', name);
  await mkdir(join(repo.commonDir, 'hooks'), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
}
