/** Notes about a worktree: where they are, and that they are of no other one. */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addWorktree, moveWorktree, ownerOf, removeWorktree } from '../../src/git/worktree.ts';
import { notesDirOf, readNote, removeNote, writeNote } from '../../src/git/worktree-notes.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('they go with their worktree wherever it is moved, and end with it', async () => {
  await using repo = await tempRepo();
  const { commonDir, signal } = repo;
  const commit = await repo.git('rev-parse', 'HEAD');
  const [path, moved] = [join(repo.outside, 'one'), join(repo.outside, 'two')];
  await addWorktree(commonDir, { path, branch: null, commit, owner: 'me' }, signal);
  writeNote(path, 'thing', 'said');
  await moveWorktree(commonDir, path, moved, signal);
  expect([ownerOf(moved), readNote(moved, 'thing'), readNote(path, 'thing')]).toEqual([
    'me',
    'said',
    null,
  ]);
  removeNote(moved, 'thing');
  const folder = notesDirOf(moved) ?? '';
  expect(folder.startsWith(join(commonDir, 'landfast', 'worktrees'))).toBe(true);
  expect(readdirSync(folder)).toEqual(['owner']);
  await removeWorktree(commonDir, moved, signal);
  expect(existsSync(folder)).toBe(false);
});

test('a worktree of the user that reuses a name of Landfast has no notes', async () => {
  await using repo = await tempRepo();
  const commit = await repo.git('rev-parse', 'HEAD');
  const path = join(repo.outside, 'ours', 'fix');
  const ours = { path, branch: null, commit, owner: 'me' };
  await addWorktree(repo.commonDir, ours, repo.signal);
  rmSync(path, { recursive: true });
  await repo.git('worktree', 'prune');
  const user = join(repo.outside, 'fix');
  await repo.git('worktree', 'add', '-q', '--detach', user);
  expect(readdirSync(join(repo.commonDir, 'worktrees'))).toEqual(['fix']);
  expect(ownerOf(user)).toBe(null);
});

test('a folder that is no worktree has none, and gets none', async () => {
  await using repo = await tempRepo();
  writeNote(repo.dir, 'thing', 'said');
  writeNote(repo.outside, 'thing', 'said');
  expect([readNote(repo.dir, 'thing'), readNote(repo.outside, 'thing')]).toEqual([null, null]);
  expect(existsSync(join(repo.commonDir, 'landfast'))).toBe(false);
});
