/** Disks as they are at their worst: full, and read-only. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { tempRepo } from '../support/temp-repo.ts';
import {
  begin,
  expectResumed,
  expectTold,
  make,
  readOnly,
  repoOnSmallDisk,
  runOf,
  untilMade,
  WAITS,
} from './scene.ts';

/** Fills the disk to its last byte, once. */
const FILL = `test -e ../../../filled || {
  touch ../../../filled; dd if=/dev/zero of=../../../ballast bs=4k 2>/dev/null; }`;

test('a full disk: the run stops and says so, what was recorded is safe, and it goes on once there is room', async ({
  skip,
}) => {
  const { repo: there, why } = await repoOnSmallDisk(24);
  await using repo = there;
  if (repo === null) return skip(why);
  const two = { needs: ['one'], prompt: `echo 2 > two.txt; ${FILL}` };
  const more = { limits: { workers: 1, disk_free: 0 } }; // Else it would wait for room beforehand.
  const ended = await begin(repo, { more, tasks: { one: 'echo 1 > one.txt', two } }).ended;
  expectTold(ended, 3, 'the disk is full. What was recorded before is safe.', 'Free some space');
  const status = await landfast(['status'], { cwd: repo.dir });
  expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/one +landed/) });
  expect(status.stdout).toContain(`landfast resume ${runOf(repo)}`);
  rmSync(join(repo.outside, 'ballast'));
  await expectResumed(repo, ['one.txt', 'two.txt']);
});

test('a git directory that cannot be written is told of before anything begins', async ({
  skip,
}) => {
  await using repo = await tempRepo();
  const undo = await readOnly(repo.commonDir);
  if (typeof undo === 'string') return skip(undo);
  try {
    const ended = await begin(repo, { tasks: { one: 'echo 1 > one.txt' } }).ended;
    expectTold(ended, 3, 'The run database cannot be created', 'is a folder you own');
    expect(ended.stderr).toMatch(/EROFS: read-only file system|EACCES: permission denied/);
  } finally {
    await undo();
  }
  expect(await begin(repo, { tasks: { one: 'echo 1 > one.txt' } }).ended).toMatchObject({
    code: 0,
  });
});

test('one that becomes read-only in the middle: the work is kept, and lands later', async ({
  skip,
}) => {
  await using repo = await tempRepo();
  const engine = begin(repo, { tasks: { one: `echo 1 > one.txt; ${WAITS}` } });
  await untilMade(repo, 'up');
  const undo = await readOnly(repo.commonDir);
  if (typeof undo === 'string') {
    engine.child.kill('SIGKILL');
    await engine.ended;
    return skip(undo);
  }
  let ended: Awaited<typeof engine.ended>;
  try {
    make(repo, 'go');
    ended = await engine.ended;
  } finally {
    await undo();
  }
  expect([1, 3]).toContain(ended.code);
  expectTold(ended, ended.code ?? 0, runOf(repo));
  expect(ended.stderr).toMatch(/[Rr]ead-only|[Pp]ermission denied|insufficient permission/);
  await expectResumed(repo, ['one.txt']);
});
