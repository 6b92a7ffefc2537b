/** What `cleanup` does about everything that is no workspace, and about live runs. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('R35: cleanup --all --cancel ends the agent, keeps its work by a ref, and tidies up', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { slow: waiting('slow') });
  const file = join(repo.outside, 'repo.worktrees', run, 'slow', 'slow.txt');
  await engine.untilFact('attempt.started', 'slow');
  await vi.waitUntil(() => existsSync(file), { timeout: 60_000 });
  const asked = await cli('cleanup', '--all', '--cancel');
  expect(asked).toMatchObject({ code: 1 });
  expect(asked.stderr).toContain('--yes');
  expect(existsSync(file)).toBe(true);
  const done = await cli('cleanup', '--all', '--cancel', '--yes');
  expect(done).toMatchObject({ code: 0 });
  expect(done.stderr).toContain(`Run ${run} has ended`);
  expect((await engine.ended).code).toBe(1);
  expect(existsSync(join(repo.outside, 'repo.worktrees', run))).toBe(false);
  const [kept] = JSON.parse((await cli('kept', '--json')).stdout);
  expect(kept).toMatchObject({ run, files: ['slow.txt'] });
});

test('cleanup removes branches that are merged, and no others', async () => {
  await using repo = await tempRepo();
  const tasks = {
    a: 'echo 1 > a.txt; git add .; git commit -qm a; exit 1',
    b: { prompt: 'exit 1', branch: 'mine' },
  };
  const { run } = await runPlan(repo, { tasks });
  const cli = (...args: string[]) => landfast(args, { cwd: repo.dir });
  const first = await cli('cleanup', '--yes');
  expect(first.stdout).toContain('Removed: 1 workspace, 1 branch.');
  const branches = () => repo.git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads');
  expect((await branches()).trim().split('\n')).toEqual([`landfast/${run}.a`, 'main', 'mine']);
  expect((await cli('cleanup', '--yes')).stdout).toContain('nothing else holds its commits');
  await repo.git('merge', '-q', '--no-edit', `landfast/${run}.a`);
  const second = await cli('cleanup', '--yes');
  expect(second.stdout).toContain('all of it is in main');
  expect(second.stdout).toContain('Removed: 1 branch.');
  expect((await branches()).trim().split('\n')).toEqual(['main', 'mine']);
});

test('cleanup removes the temp files of dead engines, and locks without a holder', async () => {
  await using repo = await tempRepo();
  const { run } = await runPlan(repo, { tasks: { a: 'echo hello; echo 1 > a.txt' } });
  const ended = Date.now();
  const scratch = join(tmpdir(), `landfast-${run}-1-abcdef`);
  mkdirSync(scratch);
  const lock = join(repo.dir, '.git/refs/heads/landfast', `${run}.lock`);
  mkdirSync(join(lock, '..'), { recursive: true });
  writeFileSync(lock, '');
  const gate = join(repo.outside, 'repo.worktrees', `${run}.gates`, 'gate-9');
  mkdirSync(gate, { recursive: true });
  const cli = (...args: string[]) => landfast(args, { cwd: repo.dir });
  const data = join(repo.dir, '.git/landfast/runs', run);
  const done = await cli('cleanup', '--yes');
  expect(done.stdout).toContain('Removed: 1 temporary folder, 1 unused folder, 1 lock.');
  expect([scratch, lock, gate, data].map((path) => existsSync(path))).toEqual([
    ...[false, false, false, true],
  ]);
  expect((await cli('cleanup', '--yes', '--older-than', '1h')).stdout).toBe(
    'Nothing to clean up.\n',
  );
  await vi.waitUntil(() => Date.now() - ended > 1_000, { timeout: 60_000 });
  const older = await cli('cleanup', '--yes', '--older-than', '1s');
  expect(older.stdout).toContain('Removed: 1 folder of transcripts.');
  expect(existsSync(data)).toBe(false);
  expect((await cli('status')).stdout).toContain('landed');
  expect((await cli('logs', 'a')).stderr).toContain('it was cleaned up');
  expect(readFileSync(join(repo.dir, 'a.txt'), 'utf8')).toBe('1\n');
});
