/**
 * Tracked files that are large: workspaces are made and work lands beside them, and the engine does
 * not take them into its memory. They are holes on the disk, so that little is written.
 */

import { readFileSync } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { begin, make, untilMade, WAITS } from './scene.ts';

const MEGABYTE = 1 << 20;

/** A repository with a tracked file of that size. */
async function repoWith(megabytes: number): Promise<TempRepo> {
  const repo = await tempRepo();
  await repo.git('config', 'core.compression', '1');
  await repo.git('config', 'core.bigFileThreshold', '10m'); // From there on git writes holes.
  const file = join(repo.dir, 'large.bin');
  await writeFile(file, '');
  await truncate(file, megabytes * MEGABYTE);
  await repo.git('add', 'large.bin');
  await repo.git('commit', '--quiet', '--message', 'Large');
  return repo;
}

const PLAN = {
  gates: [{ name: 'has-large', run: 'test -s large.bin' }],
  more: { limits: { workers: 2, disk_free: 0 } },
};

test('work lands beside a tracked file of more than 2 GiB', async () => {
  await using repo = await repoWith(2100);
  const engine = begin(repo, { ...PLAN, tasks: { one: 'echo 1 > one.txt' } });
  expect((await engine.ended).code, engine.stderr).toBe(0);
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\nlarge.bin\none.txt');
});

test.runIf(process.platform === 'linux')(
  'an engine takes less than 200 MB of memory, whatever the size of tracked files',
  async () => {
    await using repo = await repoWith(500);
    const two = { needs: ['one'], prompt: `echo 2 > two.txt; ${WAITS}` };
    const engine = begin(repo, { ...PLAN, tasks: { one: 'echo 1 > one.txt', two } });
    await Promise.race([untilMade(repo, 'up'), engine.ended]);
    const peak = peakMemory(engine.child.pid ?? 0);
    make(repo, 'go');
    expect((await engine.ended).code, engine.stderr).toBe(0);
    expect(peak).toBeLessThan(200);
  },
);

/** The most memory that a process has had so far, in megabytes. */
function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
