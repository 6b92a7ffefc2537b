/** What a person commits to a task's branch is its work from then on, and nothing of it is lost. */

import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const exec = promisify(execFile);

const GATE = { name: 'complete', run: 'test ! -e one.txt || test -e mended.txt' };
const RED = { gates: [GATE], land: { on_gate_failure: 'fail' } };

/** Commits a file in the workspace that was kept of a task. */
async function mend(repo: TempRepo, run: string, ...how: readonly string[]): Promise<string> {
  const dir = join(repo.outside, 'repo.worktrees', run, 'one');
  writeFileSync(join(dir, 'mended.txt'), 'by hand\n');
  const git = async (...args: readonly string[]) =>
    (await exec('git', ['-C', dir, ...args])).stdout;
  await git('add', 'mended.txt');
  await git('commit', '-q', '-m', 'Mend it', ...how);
  return (await git('rev-parse', 'HEAD')).trim();
}

const started = (stdout: string): number => stdout.split('"attempt.started"').length - 1;

test('retry lands what a person has committed in a kept workspace, and asks no agent', async () => {
  await using repo = await tempRepo();
  const { run, code } = await runPlan(repo, { ...RED, tasks: { one: 'echo 1 > one.txt' } });
  expect(code).toBe(1);
  const commit = await mend(repo, run);
  const retried = await landfast(['retry', 'one', '--json'], { cwd: repo.dir });
  expect(retried.code, retried.stderr).toBe(0);
  expect(started(retried.stdout)).toBe(0);
  expect(retried.stdout).toContain(`"type":"work.mended","task":"one","commit":"${commit}"`);
  await repo.git('merge-base', '--is-ancestor', commit, 'main');
  expect(await repo.git('show', 'main:mended.txt')).toBe('by hand');
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});

test('so does resume, of work that never was finished and was rewritten by hand', async () => {
  await using repo = await tempRepo();
  const { run, code } = await runPlan(repo, {
    tasks: { one: { prompt: 'echo 1 > one.txt; git add .; git commit -qm x', checks: ['false'] } },
  });
  expect(code).toBe(1);
  const commit = await mend(repo, run, '--amend');
  const resumed = await landfast(['resume'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(resumed.stderr).toContain(
    `someone committed to its branch: ${commit.slice(0, 7)} is its work now`,
  );
  await repo.git('merge-base', '--is-ancestor', commit, 'main');
});

test('a retry hands the commit to the engine of a live run', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(
    repo,
    { one: 'echo 1 > one.txt', slow: waiting('slow') },
    RED,
  );
  await engine.untilFact('workspace.kept', 'one');
  await mend(repo, run);
  const answer = await cli('retry', 'one');
  expect(answer.code, answer.stderr).toBe(0);
  await engine.untilFact('merge.landed', 'one');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
  expect(await repo.git('show', 'main:mended.txt')).toBe('by hand');
});

test('work by hand that does not pass stays on its branch, and is not taken for an agent’s', async () => {
  await using repo = await tempRepo();
  const { run } = await runPlan(repo, {
    gates: [{ ...GATE, run: 'test ! -e one.txt' }],
    tasks: { one: 'echo 1 > one.txt' },
  });
  const commit = await mend(repo, run);
  for (const command of [['retry', 'one'], ['resume']]) {
    const again = await landfast([...command, '--events'], { cwd: repo.dir });
    expect(again.code, again.stderr).toBe(1);
    expect(started(again.stdout)).toBe(0);
    expect(await repo.git('rev-parse', `landfast/${run}.one`)).toBe(commit);
  }
});

test('retry --fresh starts over, and says where the user’s commit is', async () => {
  await using repo = await tempRepo();
  const { run } = await runPlan(repo, { ...RED, tasks: { one: 'echo 1 > one.txt' } });
  const commit = await mend(repo, run);
  const fresh = await landfast(['retry', 'one', '--fresh'], { cwd: repo.dir });
  const ref = `refs/landfast/kept/${run}/one.1`;
  expect(fresh.stderr).toContain(`starts over; earlier work is kept as ${ref}`);
  expect(await repo.git('rev-parse', ref)).toBe(commit);
});

test('work that the user has landed by another run counts as landed', async () => {
  await using repo = await tempRepo();
  const { run } = await runPlan(repo, { ...RED, tasks: { one: 'echo 1 > one.txt' } });
  await mend(repo, run, '--amend');
  const landed = await landfast(['land', `landfast/${run}.one`], { cwd: repo.dir });
  expect(landed.code, landed.stderr).toBe(0);
  const resumed = await landfast(['resume', run, '--events'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(started(resumed.stdout)).toBe(0);
});
