/** A live run seen and steered from outside: another terminal, signals, and the worst of them. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { landfast, start } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const branchesOf = async (repo: TempRepo): Promise<readonly string[]> =>
  (await repo.git('for-each-ref', '--format=%(refname:short)', 'refs/heads')).split('\n');

test('status, logs and runs show a live run from another process', async () => {
  await using repo = await tempRepo();
  const { engine, cli } = await liveRun(repo, {
    slow: waiting('slow'),
    quick: 'echo 1 > quick.txt',
  });
  await engine.untilFact('merge.landed', 'quick');
  while (!(await cli('logs', 'slow')).stdout.includes('working'));
  const status = JSON.parse((await cli('status', '--json')).stdout);
  expect(status).toMatchObject({ name: 'test', live: true, outcome: null, landed: ['quick'] });
  expect((await cli('status')).stdout).toMatch(/slow +running +#1/);
  expect((await cli('runs')).stdout).toMatch(/test .* live/);
  const following = start(['logs', 'slow', '-f'], { cwd: repo.dir });
  const watching = start(['status', '--watch'], { cwd: repo.dir });
  await watching.until(({ stdout }) => stdout.includes('landed as'));
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
  expect(await following.ended).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^── slow, attempt 1: shell, [\d:]+ ──\nworking\n── .* ──\n$/),
  });
  expect((await watching.ended).stdout).toMatch(/All 2 tasks succeeded/);
});

test('cancel ends one task and everything it started, and keeps its work', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, {
    slow: waiting('slow'),
    other: waiting('other'),
  });
  await engine.untilFact('attempt.started', 'slow');
  await engine.untilFact('attempt.started', 'other');
  const slow = join(repo.outside, 'repo.worktrees', run, 'slow');
  while (!existsSync(join(slow, 'slow.txt'))) await cli('status');
  const answer = await cli('cancel', 'slow', '--json');
  expect(JSON.parse(answer.stdout)).toEqual({ run, task: 'slow', cancelled: true });
  await engine.untilFact('task.failed', 'slow');
  expect(marked(`${run}/slow`)).toEqual([]);
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(1);
  expect(readFileSync(join(slow, 'slow.txt'), 'utf8')).toBe('slow\n');
  expect(existsSync(join(repo.dir, 'other.txt'))).toBe(true);
  expect(marked(`${run}/`)).toEqual([]);
});

test('cancel without a task ends the run for good', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, {
    slow: waiting('slow'),
    quick: 'echo 1 > quick.txt',
  });
  await engine.untilFact('merge.landed', 'quick');
  expect((await cli('cancel')).code).toBe(0);
  const ended = await engine.ended;
  expect(ended.code).toBe(1);
  expect(engine.entries.at(-1)?.event).toEqual({ type: 'run.finished', outcome: 'cancelled' });
  expect(marked(`${run}/`)).toEqual([]);
  expect(existsSync(join(repo.dir, 'quick.txt'))).toBe(false);
  expect((await cli('cancel')).stderr).toContain('is not live');
});

test('the first Ctrl-C lets running agents finish and land, then stops: exit 130', async () => {
  await using repo = await tempRepo();
  writeFileSync(
    join(repo.outside, 'plan.yaml'),
    nativePlan({ tasks: { slow: waiting('slow'), next: 'echo 1 > next.txt' }, workers: 1 }),
  );
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  await engine.untilFact('attempt.started', 'slow');
  engine.child.kill('SIGINT');
  await engine.untilFact('run.stopping');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(130);
  const facts = engine.entries.map(({ event }) => event.type);
  expect(facts).toContain('merge.landed');
  expect(engine.entries.some(({ event }) => 'task' in event && event.task === 'next')).toBe(false);
  const resumed = await landfast(['run', '../plan.yaml', '--resume'], { cwd: repo.dir });
  expect(resumed.code).toBe(0);
  expect(await repo.git('log', '--format=%s', '--first-parent')).toBe(
    'Land next\nLand slow\nChange',
  );
});

test('the second Ctrl-C ends agents, keeps their work and leaves nothing running', async () => {
  await using repo = await tempRepo();
  const { engine, run } = await liveRun(repo, { slow: waiting('slow') });
  await engine.untilFact('attempt.started', 'slow');
  engine.child.kill('SIGINT');
  await engine.untilFact('run.stopping');
  engine.child.kill('SIGINT');
  expect((await engine.ended).code).toBe(130);
  expect(marked(`${run}/`)).toEqual([]);
  expect(await branchesOf(repo)).toContain(`landfast/${run}.slow`);
});

test('kill -9 of the engine: resume ends what survived, runs it again once, and lands', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, {
    slow: waiting('slow'),
    quick: 'echo 1 > quick.txt',
  });
  await engine.untilFact('merge.landed', 'quick');
  await engine.untilFact('attempt.started', 'slow');
  engine.child.kill('SIGKILL');
  await engine.ended;
  expect((await cli('status')).stdout).toContain(`landfast resume ${run}`);
  writeFileSync(join(repo.outside, 'go'), '');
  const resumed = await cli('resume');
  expect(resumed).toMatchObject({ code: 0 });
  expect(marked(`${run}/`)).toEqual([]);
  const subjects = (await repo.git('log', '--format=%s', '--first-parent')).split('\n');
  expect(subjects.sort()).toEqual(['Change', 'Land quick', 'Land slow']);
  expect(await branchesOf(repo)).toEqual(['main']);
  expect(readdirSync(repo.outside)).not.toContain('repo.worktrees');
  expect((await cli('resume')).stderr).toContain('nothing left to do');
});

test('a second engine on the same run is refused with exit 3', async () => {
  await using repo = await tempRepo();
  const { engine, cli } = await liveRun(repo, { slow: waiting('slow') });
  const refused = await cli('resume');
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.stderr).toContain(`process ${engine.child.pid}`);
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
});
