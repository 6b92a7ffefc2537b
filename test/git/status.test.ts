/** What is checked out in a working tree, and what differs from that. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseStatus, type Status, statusOf } from '../../src/git/status.ts';
import { tempRepo } from '../support/temp-repo.ts';

const NONE: Status = {
  ...{ head: null, branch: null },
  ...{ changed: [], staged: [], unmerged: [], untracked: [], ignored: [] },
};

test('every kind of difference is told, whatever a file is called', async () => {
  await using repo = await tempRepo({
    files: { '.gitignore': '*.log\nout/\n', 'a b': '', gone: '', 'two\nlines': '', was: 'x\n' },
  });
  await repo.write({ 'a b': '1', 'two\nlines': '1', '"q"': '', 'dir/ü': '' });
  await repo.write({ 'x.log': '', 'out/x': '', 'late ? x': '' });
  await repo.git('add', 'two\nlines', '"q"');
  await repo.git('mv', 'was', 'is');
  await repo.write({ 'two\nlines': '2' });
  await rm(join(repo.dir, 'gone'));
  await repo.git('init', '-q', 'nested');
  const head = await repo.git('rev-parse', 'HEAD');
  const expected = {
    head,
    branch: 'main',
    changed: ['"q"', 'a b', 'gone', 'is', 'two\nlines', 'was'],
    staged: ['"q"', 'is', 'two\nlines', 'was'],
    unmerged: [],
    untracked: ['dir/ü', 'late ? x', 'nested'],
    ignored: ['out/x', 'x.log'],
  };
  const all = { untracked: 'all', ignored: true } as const;
  expect(await statusOf(repo.dir, all, repo.signal)).toEqual(expected);
  const normal = { untracked: 'normal', ignored: true } as const;
  expect(await statusOf(repo.dir, normal, repo.signal)).toEqual({
    ...expected,
    untracked: ['dir', 'late ? x', 'nested'],
    ignored: ['out/', 'x.log'],
  });
  const none = await statusOf(repo.dir, { untracked: 'no' }, repo.signal);
  expect(none).toEqual({ ...expected, untracked: [], ignored: [] });
});

test('a conflict, a detached HEAD and a branch without a commit are told', async () => {
  await using repo = await tempRepo({ files: { same: '1\n', 'both sides': '1\n' } });
  const look = () => statusOf(repo.dir, { untracked: 'all' }, repo.signal);
  await repo.commit('topic', { same: '2\n', 'both sides': '2\n' });
  const head = await repo.commit('main', { same: '3\n', 'both sides': null });
  await repo.git('checkout', '-q', '--detach');
  expect(await look()).toEqual({ ...NONE, head });
  await repo.git('merge', '-q', 'topic').catch(() => undefined);
  const files = ['both sides', 'same'];
  expect(await look()).toEqual({ ...NONE, head, changed: files, unmerged: files });
  await repo.git('reset', '-q', '--hard');
  await repo.git('checkout', '-q', '--orphan', 'team/new');
  expect(await look()).toMatchObject({ head: null, branch: 'team/new', staged: ['same'] });
});

test('nothing at all is a status, too', () => {
  expect(parseStatus('')).toEqual(NONE);
  const head = 'a'.repeat(64);
  expect(parseStatus(`# branch.oid ${head}\0# branch.head a b\0`)).toEqual({
    ...NONE,
    head,
    branch: 'a b',
  });
});
