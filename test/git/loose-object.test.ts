/** Objects that are written as files: git reads them, and finds nothing wrong with them. */

import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLoose, writeLoose, writesPlainly } from '../../src/git/loose-object.ts';
import { comparesPlainly } from '../../src/git/quick-checkout.ts';
import { runGit, tempRepo } from '../support/temp-repo.ts';

const SIZES = [0, 1, 7, 255, 256, 7_980, 7_990, 7_991, 7_992, 8_000, 8_001, 65_536, 300_000];

test('of every size, and git agrees on their names', async () => {
  await using repo = await tempRepo();
  for (const size of SIZES) {
    const body = randomBytes(size);
    const file = join(repo.outside, 'body');
    writeFileSync(file, body);
    const sha = writeLoose(repo.commonDir, 'blob', body);
    expect(sha).toBe(await repo.git('hash-object', '--no-filters', file));
    expect(await repo.git('cat-file', '-s', sha)).toBe(String(size));
    expect(readLoose(repo.commonDir, sha, 'blob')?.equals(body)).toBe(true);
    expect(readLoose(repo.commonDir, sha, 'tree')).toBeNull();
  }
  expect(await repo.git('fsck', '--strict', '--no-dangling')).toBe('');
});

test('what git has written is read as well', async () => {
  await using repo = await tempRepo();
  const text = 'a line\n'.repeat(500);
  const sha = await runGit(repo.dir, ['hash-object', '-w', '--stdin'], text);
  expect(readLoose(repo.commonDir, sha, 'blob')?.toString()).toBe(text);
});

test('one that is damaged is nothing', async () => {
  await using repo = await tempRepo();
  const sha = writeLoose(repo.commonDir, 'blob', Buffer.from('some words'));
  const path = join(repo.commonDir, 'objects', sha.slice(0, 2), sha.slice(2));
  const whole = readFileSync(path);
  chmodSync(path, 0o644);
  for (const at of [0, 3, 8, 12, whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    writeFileSync(path, damaged);
    expect(readLoose(repo.commonDir, sha, 'blob'), `byte ${at}`).toBeNull();
  }
  writeFileSync(path, whole.subarray(0, 10));
  expect(readLoose(repo.commonDir, sha, 'blob')).toBeNull();
  appendFileSync(path, whole.subarray(10));
  expect(readLoose(repo.commonDir, sha, 'blob')?.toString()).toBe('some words');
});

test('one that is there already is as new, so that no clean-up removes it', async () => {
  await using repo = await tempRepo();
  const body = Buffer.from('given up once');
  const sha = writeLoose(repo.commonDir, 'blob', body);
  const path = join(repo.commonDir, 'objects', sha.slice(0, 2), sha.slice(2));
  utimesSync(path, 1_000_000_000, 1_000_000_000);
  expect(writeLoose(repo.commonDir, 'blob', body)).toBe(sha);
  await repo.git('prune', '--expire=2.weeks.ago');
  expect(await repo.git('cat-file', '-t', sha)).toBe('blob');
});

test.each([
  ['core.fsync', 'loose-object'],
  ['core.fsyncMethod', 'batch'],
  ['core.fsyncObjectFiles', 'true'],
])('where %s is set git writes them, which waits for the disk', async (name, value) => {
  await using repo = await tempRepo();
  await repo.git('config', name, value);
  expect(await writesPlainly(repo.commonDir, repo.signal)).toBe(false);
});

test.each([
  ['onbranch:landfast/**', false],
  ['gitdir:/home/ada/shop/.git', false],
  ['gitdir:worktrees/', false],
  ['gitdir:/home/ada/', true],
  ['gitdir/i:~/Work/', true],
  ['hasconfig:remote.*.url:https://example.com/**', true],
])('settings of %s are the same in all worktrees: %s', async (condition, isPlain) => {
  await using repo = await tempRepo();
  await repo.git('config', `includeIf.${condition}.path`, 'more');
  const { commonDir, signal } = repo;
  const plain = [await writesPlainly(commonDir, signal), await comparesPlainly(commonDir, signal)];
  expect(plain).toEqual([isPlain, isPlain]);
});
