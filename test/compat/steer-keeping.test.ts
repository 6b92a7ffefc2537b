/** Leftovers of runs: what `cleanup` removes and leaves, and what `kept` gives back. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { landfast } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const LOOSE = 'echo mine > loose.txt; exit 1';
const cliOf =
  (repo: TempRepo) =>
  (...args: string[]) =>
    landfast(args, { cwd: repo.dir });

test('C58: cleanup counts the one workspace it removes, keeps its branch, and touches nothing foreign', async () => {
  await using repo = await tempRepo();
  const plan = { tasks: { a: 'echo 1 > a.txt' }, land: { strategy: 'none' } };
  const { run } = await runPlan(repo, plan, { args: ['--keep-worktrees'] });
  const folder = join(repo.outside, 'repo.worktrees');
  mkdirSync(join(folder, 'foreign'));
  await repo.git('worktree', 'add', '-q', '--detach', join(folder, 'mine'));
  const cli = cliOf(repo);
  const listed = await cli('cleanup');
  expect(listed.stdout).toContain('To remove: 1 workspace');
  expect(listed.stderr).toContain('landfast cleanup --yes');
  expect(existsSync(join(folder, run, 'a'))).toBe(true);
  const done = await cli('cleanup', '--yes');
  expect(done).toMatchObject({ code: 0 });
  expect(done.stdout).toContain('Removed: 1 workspace.');
  expect(existsSync(join(folder, run))).toBe(false);
  expect(existsSync(join(folder, 'foreign'))).toBe(true);
  expect(existsSync(join(folder, 'mine', 'README.md'))).toBe(true);
  expect(await repo.git('branch', '--list', `landfast/${run}.a`)).toContain('a');
});

test('R34: cleanup leaves work that is in no commit, and says how it would go', async () => {
  await using repo = await tempRepo();
  const { run } = await runPlan(repo, { tasks: { a: LOOSE } });
  const answer = await cliOf(repo)('cleanup', '--yes', '--json');
  expect(JSON.parse(answer.stdout)).toMatchObject({
    verdicts: [
      { run, task: 'a', remove: false, why: 'it holds 1 file in no commit (--all)' },
      { kind: 'branch', task: null, remove: true, why: 'all of it is in main' },
    ],
    removed: [`landfast/${run}`],
  });
});

test('R35: cleanup --all leaves a running agent alone, and backs up what it removes', async () => {
  await using repo = await tempRepo();
  const { run: old } = await runPlan(repo, { tasks: { a: LOOSE } });
  const { engine, cli, run } = await liveRun(repo, { slow: waiting('slow') });
  await engine.untilFact('attempt.started', 'slow');
  const work = join(repo.outside, 'repo.worktrees', run, 'slow', 'slow.txt');
  await vi.waitUntil(() => existsSync(work), { timeout: 60_000 });
  const refused = await cli('cleanup', '--all', '--yes');
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain(`landfast cancel --run ${run}`);
  expect(existsSync(join(repo.outside, 'repo.worktrees', old))).toBe(false);
  expect(existsSync(work)).toBe(true);
  const [kept] = JSON.parse((await cli('kept', '--json')).stdout);
  expect(kept).toMatchObject({ run: old, files: ['loose.txt'] });
  const dir = join(repo.outside, 'again');
  expect((await cli('kept', 'restore', `${old}/a`, '--worktree', dir)).code).toBe(0);
  expect(readFileSync(join(dir, 'loose.txt'), 'utf8')).toBe('mine\n');
  expect((await cli('kept', 'restore', `${old}/a`, '--worktree', dir)).code).toBe(2);
  expect((await cli('kept', 'show', `${old}/a`)).stdout).toContain('loose.txt');
  expect((await cli('kept', 'drop', `${old}/a`)).stderr).toContain('--yes');
  expect((await cli('kept', 'drop', `${old}/a`, '--yes')).stdout).toContain(kept.commit);
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
});

test('cleanup --all ends an agent that outlived its engine, and keeps its work', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { slow: waiting('slow') });
  while (!(await cli('logs', 'slow')).stdout.includes('working'));
  engine.child.kill('SIGKILL');
  await engine.ended;
  const stays = await cli('cleanup', '--yes');
  expect(stays).toMatchObject({ code: 0 });
  expect(marked(`${run}/`).length).toBeGreaterThanOrEqual(2);
  expect(await cli('cleanup', '--all', '--yes')).toMatchObject({ code: 0, stderr: '' });
  expect(marked(`${run}/`)).toEqual([]);
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
  const [kept] = JSON.parse((await cli('kept', '--json')).stdout);
  expect(kept).toMatchObject({ run, files: ['slow.txt'] });
});
