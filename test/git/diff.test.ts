/** What has changed in a working tree, counted as a person would count it. */

import { chmod, rm, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedFiles, conflictMarkersIn, leftoversIn } from '../../src/git/diff.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('changes are told against a commit, untracked files too, ignored ones not', async () => {
  await using repo = await tempRepo({
    files: {
      '.gitignore': '*.log\n',
      kept: '',
      edited: '',
      removed: '',
      'old name': 'same\n',
      mode: '',
    },
  });
  const base = await repo.git('rev-parse', 'HEAD');
  await repo.commit('main', { 'committed since': '' });
  await repo.write({ edited: '1', 'new/ü\n': '', 'debug.log': '', staged: '' });
  await repo.git('add', 'staged');
  await repo.git('mv', 'old name', 'new name');
  await rm(join(repo.dir, 'removed'));
  await chmod(join(repo.dir, 'mode'), 0o755);
  expect(await changedFiles(repo.dir, base, repo.signal)).toEqual([
    'committed since',
    'edited',
    'mode',
    'new name',
    'new/ü\n',
    'old name',
    'removed',
    'staged',
  ]);
});

test('a touched file has not changed, nor one that was changed back', async () => {
  await using repo = await tempRepo({ files: { touched: 'text\n', staged: 'text\n' } });
  const base = await repo.git('rev-parse', 'HEAD');
  await utimes(join(repo.dir, 'touched'), 0, 0);
  await repo.write({ staged: 'other\n' });
  await repo.git('add', 'staged');
  await repo.write({ staged: 'text\n' });
  expect(await changedFiles(repo.dir, base, repo.signal)).toEqual([]);
});

test('an untracked repository is one path, and so is a file made again', async () => {
  await using repo = await tempRepo({ files: { a: '' } });
  const base = await repo.git('rev-parse', 'HEAD');
  await repo.git('init', '--quiet', 'nested');
  await repo.write({ 'nested/file': '' });
  await repo.git('rm', '--quiet', '--cached', 'a');
  expect(await changedFiles(repo.dir, base, repo.signal)).toEqual(['a', 'nested']);
});

test('an untracked file is not clean, whatever the configuration says', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': 'ignored\n' } });
  await repo.git('config', 'status.showUntrackedFiles', 'no');
  expect(await leftoversIn(repo.dir, repo.signal)).toBe('pristine');
  await repo.write({ ignored: '' });
  expect(await leftoversIn(repo.dir, repo.signal)).toBe('clean');
  await repo.write({ 'folder/precious': '' });
  expect(await leftoversIn(repo.dir, repo.signal)).toBe('work');
});

test('a checkout in the middle of a merge or cherry-pick is not clean', async () => {
  await using repo = await tempRepo();
  await repo.commit('topic', { a: '' });
  await repo.commit('main', { b: '' });
  await repo.git('merge', '--quiet', '--no-commit', '--strategy=ours', 'topic');
  expect(await repo.git('status', '--porcelain')).toBe('');
  expect(await leftoversIn(repo.dir, repo.signal)).toBe('work');
  await repo.git('merge', '--abort');
  expect(await leftoversIn(repo.dir, repo.signal)).toBe('pristine');
  await repo.git('cherry-pick', '--no-commit', 'topic');
  expect(await leftoversIn(repo.dir, repo.signal)).toBe('work');
});

test('conflict markers are found where a merge left them, and nowhere else', async () => {
  await using repo = await tempRepo();
  await repo.write({
    open: 'a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\n',
    'half ü': 'a\r\n>>>>>>> topic\r\n',
    heading: 'Title\n=======\n\n> > > > > > > quote\n<<<<<<<<<< arrow\n',
    binary: '\0\n<<<<<<< HEAD\n',
  });
  await symlink('open', join(repo.dir, 'link'));
  const files = ['open', 'half ü', 'heading', 'binary', 'link', 'missing', '.git'];
  expect(await conflictMarkersIn(repo.dir, files, repo.signal)).toEqual(['open', 'half ü']);
});
