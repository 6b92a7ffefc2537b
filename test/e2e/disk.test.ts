/** What a run does when the disk is full, and when runs take more of it than they may. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { liveRun } from '../support/live-run.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const A = { a: 'echo 1 > a.txt' };

test('a run that has no room to begin says so, and ends when it is asked to', async () => {
  await using repo = await tempRepo();
  const more = { more: { limits: { workers: 1, disk_free: '9000TB' } } };
  const { engine, cli, run } = await liveRun(repo, A, more);
  await engine.untilFact('run.held');
  const status = JSON.parse((await cli('status', '--json')).stdout);
  expect(status.held).toMatchObject({ of: 'disk' });
  expect(status.tasks[0].detail).toContain('limits.disk_free');
  expect((await cli('status')).stdout).toContain('The run waits for disk space');
  expect((await cli('cancel', '--run', run)).code).toBe(0);
  expect((await engine.ended).code).toBe(1);
});

test.skipIf(!canMount())('a full disk keeps attempts back until there is room again', async () => {
  await using repo = await tempRepo();
  const small = join(repo.outside, 'small');
  mkdirSync(small);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', small]);
  try {
    writeFileSync(join(small, 'ballast'), Buffer.alloc(28_000_000, 1));
    const more = { limits: { workers: 1, disk_free: '8MB' }, workspace: { dir: '../small/work' } };
    const { engine } = await liveRun(repo, A, { more });
    await engine.untilFact('run.held');
    rmSync(join(small, 'ballast'));
    expect(await engine.ended).toMatchObject({ code: 0 });
    const types = engine.entries.map(({ event }) => event.type);
    expect(types.slice(0, 4)).toEqual(['run.started', 'run.held', 'run.eased', 'attempt.started']);
  } finally {
    execFileSync('umount', ['-l', small]);
  }
});

test('over its disk budget a run first lets go of what landed runs have said', async () => {
  await using repo = await tempRepo();
  const loud = { a: 'echo 1 > a.txt; head -c 3000000 /dev/zero | tr "\\0" x | fold -w 100' };
  const { run: old } = await runPlan(repo, { tasks: loud });
  const { run: failed } = await runPlan(repo, { tasks: { a: 'echo it failed; exit 1' } });
  const said = (run: string) => join(repo.dir, '.git/landfast/runs', run, 'attempts');
  expect(existsSync(said(old))).toBe(true);
  const more = { limits: { workers: 1, disk: '2MB' } };
  const { code, stderr, of } = await runPlan(repo, { tasks: { b: 'echo 2 > b.txt' }, more });
  expect({ code, held: of('run.held') }).toEqual({ code: 0, held: [] });
  expect(stderr).toContain(`removed the transcripts of run ${old}`);
  expect([existsSync(said(old)), existsSync(said(failed))]).toEqual([false, true]);
});

test('seeds go before a run has to wait, also those of which its plan knows nothing', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': 'deps/\n', lock: '1\n' } });
  const setup = ['mkdir deps; head -c 3000000 /dev/urandom > deps/x'];
  const workspace = { setup, setup_key: ['lock'], seed: ['deps'] };
  const seeds = join(repo.dir, '.git/landfast/seeds');
  expect(await runPlan(repo, { tasks: A, more: { workspace } })).toMatchObject({ code: 0 });
  expect(readdirSync(seeds)).toHaveLength(1);
  const more = { limits: { workers: 1, disk: '2MB' } };
  const { code, of } = await runPlan(repo, { tasks: { b: 'echo 2 > b.txt' }, more });
  expect({ code, held: of('run.held') }).toEqual({ code: 0, held: [] });
  expect(readdirSync(seeds)).toEqual([]);
});

test('work is never evicted: a run with no room left for it waits, and says for what', async () => {
  await using repo = await tempRepo();
  const keep = 'head -c 3000000 /dev/urandom > big.bin; exit 1';
  const { run: old } = await runPlan(repo, { tasks: { a: keep } });
  const more = { limits: { workers: 1, disk: '2MB' } };
  const { engine, cli } = await liveRun(repo, { b: 'echo 2 > b.txt' }, { more });
  await engine.untilFact('run.held');
  expect((await cli('status')).stdout).toContain('waits for its disk budget');
  expect((await cli('cleanup', '--run', old, '--force')).code).toBe(0);
  expect(await engine.ended).toMatchObject({ code: 0 });
});

test('a run that waits for disk space can be ended and resumed with another limit', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, A, {
    more: { limits: { workers: 1, disk_free: '9000TB' } },
  });
  await engine.untilFact('run.held');
  const { stdout } = await cli('status');
  expect(stdout).toContain('end the run and resume it with `--disk-free SIZE`.');
  engine.child.kill('SIGTERM');
  expect((await engine.ended).code).toBe(143);
  const bad = await cli('resume', run, '--disk-free', 'plenty');
  expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('such as 10GB') });
  expect((await cli('resume', run, '--disk-free', '1MB')).code).toBe(0);
  expect(existsSync(join(repo.dir, 'a.txt'))).toBe(true);
});

test('so can one whose disk budget is used up; --disk holds for a new run as well', async () => {
  await using repo = await tempRepo();
  const keep = 'head -c 3000000 /dev/urandom > big.bin; exit 1';
  await runPlan(repo, { tasks: { a: keep } });
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks: { b: 'echo 2 > b.txt' } }));
  const args = ['run', '../plan.yaml', '--events', '--disk', '2MB'];
  const engine = start(args, { cwd: repo.dir });
  await engine.untilFact('run.held');
  engine.child.kill('SIGTERM');
  expect((await engine.ended).code).toBe(143);
  const resumed = await landfast(['resume', '--disk', '1GB', '--events'], { cwd: repo.dir });
  expect(resumed.code).toBe(0);
  expect(resumed.stdout).toContain('"diskBytes":1000000000');
  expect(existsSync(join(repo.dir, 'b.txt'))).toBe(true);
});

/** Only root may; elsewhere the first test and the simulator's full disks have to do. */
function canMount(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0;
}
