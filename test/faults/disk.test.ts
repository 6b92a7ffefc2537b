/** Disks as they are at their worst: full, and read-only. */

import { rmSync, writeFileSync } from 'node:fs';
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
  smallDisk,
  untilMade,
  WAITS,
} from './scene.ts';

/** Fills the disk to its last byte, once. */
const FILL = `test -e ../../../filled || {
  touch ../../../filled; dd if=/dev/zero of=../../../ballast bs=4k 2>/dev/null; }`;

test('a full disk stops the run, which says so; the journal is safe, and a resume works once there is room', async ({
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

test('a read-only git directory is reported before anything starts', async ({ skip }) => {
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

test('a git directory that becomes read-only in the middle of a run costs no work', async ({
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

test('a temporary folder that is full at the start, and one that a task fills', async ({
  skip,
}) => {
  const disk = await smallDisk(4);
  if (typeof disk === 'string') return skip(disk);
  await using full = disk;
  await using repo = await tempRepo();
  const env = { TMPDIR: full.path };
  const ballast = join(full.path, 'ballast');
  const tasks = {
    one: `echo 1 > one.txt; dd if=/dev/zero of='${ballast}' bs=4k 2>/dev/null; true`,
  };

  writeFileSync(ballast, Buffer.alloc(7 * 512 * 1024)); // Half a megabyte is left.
  const told = ['Temporary files cannot be written to', full.path, 'set TMPDIR to'];
  expectTold(await begin(repo, { tasks }, { env }).ended, 3, ...told);

  rmSync(ballast);
  const ended = await begin(repo, { tasks }, { env }).ended;
  expectTold(ended, ended.code ?? 0, ...told);
  expect([1, 3]).toContain(ended.code);
  rmSync(ballast);
  await expectResumed(repo, ['one.txt']);
});
