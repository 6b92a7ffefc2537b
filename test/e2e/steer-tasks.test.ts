/** Tasks of a run steered from another terminal: tried again, given up, taken as done. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { tempRepo } from '../support/temp-repo.ts';

/** Fails until the user has repaired the cause. */
const BROKEN = 'test -e ../../../mended && echo 1 > broken.txt';
const touch = (dir: string, name: string): void => writeFileSync(join(dir, name), '');

test('retry gives a failed task of a live run a new chance, and what failed because of it', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, {
    slow: waiting('slow'),
    broken: BROKEN,
    after: { prompt: 'echo 1 > after.txt', needs: ['broken'] },
  });
  await engine.untilFact('task.failed', 'after');
  touch(repo.outside, 'mended');
  const answer = await cli('retry', 'broken', '--json');
  expect(JSON.parse(answer.stdout)).toEqual({ run, tasks: ['broken'], retried: true });
  await engine.untilFact('merge.landed', 'after');
  touch(repo.outside, 'go');
  expect((await engine.ended).code).toBe(0);
  const retried = engine.entries.flatMap(({ event }) =>
    event.type === 'task.retried' ? event.task : [],
  );
  expect(retried).toEqual(['broken', 'after']);
  expect(await repo.git('log', '--format=%s', '--first-parent')).toMatch(/^Land slow\nLand after/);
});

test('tasks that cannot be retried are refused with every reason, and names are guessed', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, {
    slow: waiting('slow'),
    quick: 'echo 1 > quick.txt',
  });
  await engine.untilFact('merge.landed', 'quick');
  await engine.untilFact('attempt.started', 'slow');
  const refused = await cli('retry', 'slow', 'quick');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('Task slow is running. Task quick has succeeded.');
  const unknown = await cli('skip', 'quik');
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toBe(`landfast: Run ${run} has no task quik.\n  Did you mean quick?\n`);
  expect((await cli('retry')).code).toBe(2);
  touch(repo.outside, 'go');
  expect((await engine.ended).code).toBe(0);
});

test('retry takes up one failed task of a run that is over, and leaves the others', async () => {
  await using repo = await tempRepo();
  const { engine, cli } = await liveRun(repo, { broken: BROKEN, other: 'exit 1' });
  expect((await engine.ended).code).toBe(1);
  touch(repo.outside, 'mended');
  const again = await cli('retry', 'broken');
  expect(again).toMatchObject({ code: 1 });
  expect(existsSync(join(repo.dir, 'broken.txt'))).toBe(true);
  const { tasks } = JSON.parse((await cli('status', '--json')).stdout);
  expect(tasks).toMatchObject([
    { id: 'broken', state: 'landed', attempt: 2 },
    { id: 'other', state: 'failed', attempt: 1 },
  ]);
  expect((await cli('retry', 'broken')).stderr).toContain('Task broken has succeeded.');
});

test('skip gives up a task and what needs it: the run fails, and resume leaves them alone', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, {
    slow: waiting('slow'),
    after: { prompt: 'echo 1 > after.txt', needs: ['slow'] },
    quick: 'echo 1 > quick.txt',
  });
  await engine.untilFact('attempt.started', 'slow');
  const slow = join(repo.outside, 'repo.worktrees', run, 'slow');
  while (!existsSync(join(slow, 'slow.txt'))) await cli('status');
  const answer = await cli('skip', 'slow');
  expect(answer.stdout).toBe('slow: given up, work is kept; dependent tasks are skipped too.\n');
  const ended = await engine.ended;
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('2 skipped: slow, after');
  expect(marked(`${run}/`)).toEqual([]);
  expect(readFileSync(join(slow, 'slow.txt'), 'utf8')).toBe('slow\n');
  expect((await cli('status')).stdout).toMatch(/slow +skipped .*given up/);
  const resumed = await cli('resume', '--events');
  expect(resumed.stdout).not.toContain('attempt.started');
});

test('skip --satisfied lets what needs the task go on, and the run succeeds without it', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, {
    slow: waiting('slow'),
    broken: BROKEN,
    after: { prompt: 'echo 1 > after.txt', needs: ['broken'] },
    last: { prompt: 'echo 1 > last.txt', needs: ['slow', 'after'] },
  });
  await engine.untilFact('task.failed', 'last');
  const answer = await cli('skip', 'broken', '--satisfied', '--json');
  const given = { run, tasks: ['broken'], skipped: true, satisfied: true };
  expect(JSON.parse(answer.stdout)).toEqual(given);
  await engine.untilFact('merge.landed', 'after');
  touch(repo.outside, 'go');
  const ended = await engine.ended;
  expect(engine.entries.at(-1)?.event).toEqual({ type: 'run.finished', outcome: 'succeeded' });
  expect(ended.code).toBe(0);
  expect(existsSync(join(repo.dir, 'last.txt'))).toBe(true);
  expect((await cli('status')).stdout).toMatch(/broken +skipped .*taken as done/);
});
