/** Commands say one thing about a run without an engine, and the same thing everywhere. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('after a crash every command says that the run was interrupted, and nothing is running', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, {
    slow: waiting('slow'),
    after: { prompt: 'echo 1 > after.txt', needs: ['slow'] },
  });
  await engine.untilFact('attempt.started', 'slow');
  engine.child.kill('SIGKILL');
  await engine.ended;
  const status = (await cli('status')).stdout;
  expect(status).toContain(`test  ${run}  interrupted\n`);
  expect(status).toMatch(/↩ slow +stopped +#1 .*interrupted: The engine was ended while/);
  expect(status).toMatch(/↩ after +not started/);
  expect(status).toContain(`No engine is driving this run. Continue: landfast resume ${run}\n`);
  expect(status).not.toMatch(/running|left behind|waiting/);
  expect(JSON.parse((await cli('status', '--json')).stdout)).toMatchObject({
    outcome: 'interrupted',
    live: false,
    tasks: [{ state: 'stopped' }, { state: 'not started' }],
  });
  expect(JSON.parse((await cli('runs', '--json')).stdout)).toMatchObject([
    { run, outcome: 'interrupted' },
  ]);
  await landfast(['cleanup', '--all', '--yes'], { cwd: repo.dir });
});

test('of work that a person has merged no workspace is said to be kept, and none is', async () => {
  await using repo = await tempRepo();
  const { run, code } = await runPlan(repo, {
    gates: [{ name: 'never', run: 'false', base: 'red' }],
    land: { on_gate_failure: 'fail' },
    tasks: { one: 'echo 1 > one.txt' },
  });
  expect(code).toBe(1);
  const status = async () => (await landfast(['status'], { cwd: repo.dir })).stdout;
  expect(await status()).toContain('Workspace kept: one (it holds work that has not landed)');
  await repo.git('merge', '-q', '--no-ff', '-m', 'By hand', `landfast/${run}.one`);
  const resumed = await landfast(['resume'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(await status()).not.toContain('kept');
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});
