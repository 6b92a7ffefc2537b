/** A live run is paused and goes on: nothing new starts, agents go on or stand still. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isSystemError } from '../../src/base/errors.ts';
import { isAlive } from '../../src/process/process-list.ts';
import { marked } from '../../src/process/process-tree.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { tempRepo } from '../support/temp-repo.ts';

/** A busy kernel halts a process when it is its turn. */
const SOON = { timeout: 60_000, interval: 10 };

/** The state letters of processes, as the kernel tells them: `T` is halted. */
function statesOf(prefix: string): readonly string[] {
  return marked(prefix).flatMap(({ pid }) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const state = stat.slice(stat.lastIndexOf(')') + 2)[0] ?? '';
      return state === 'Z' ? [] : state;
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return []; // It has just ended; so has a zombie, which waits for its halted parent.
    }
  });
}

test('pause starts nothing new, lets agents finish and land, and resume goes on', async () => {
  await using repo = await tempRepo();
  const tasks = { slow: waiting('slow'), next: 'echo 1 > next.txt' };
  const { engine, cli, run } = await liveRun(repo, tasks, { workers: 1 });
  await engine.untilFact('attempt.started', 'slow');
  const paused = await cli('pause', '--json');
  expect(JSON.parse(paused.stdout)).toEqual({ run, paused: true, suspended: false });
  writeFileSync(join(repo.outside, 'go'), '');
  await engine.untilFact('workspace.removed', 'slow');
  const status = await cli('status');
  expect(status.stdout).toMatch(/^test .* paused$/m);
  expect(status.stdout).toMatch(/next +waiting +the run is paused/);
  expect(status.stdout).toContain(`The run is paused. Continue: landfast resume ${run}`);
  expect((await cli('runs')).stdout).toMatch(/ paused /);
  expect(await cli('resume')).toMatchObject({ code: 0, stdout: `run ${run} continues.\n` });
  expect((await engine.ended).code).toBe(0);
  expect(existsSync(join(repo.dir, 'next.txt'))).toBe(true);
});

test('pause --suspend halts every process of every agent; resume continues the same processes', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { one: waiting('one'), two: waiting('two') });
  while (!(await cli('logs', 'one')).stdout.includes('working'));
  while (!(await cli('logs', 'two')).stdout.includes('working'));
  expect((await cli('pause', '--suspend')).stdout).toContain('its agents are suspended');
  const before = marked(`${run}/`).map(({ pid }) => pid);
  expect(before.length).toBeGreaterThanOrEqual(4);
  await vi.waitFor(() => expect(new Set(statesOf(`${run}/`))).toEqual(new Set(['T'])), SOON);
  expect((await cli('status')).stdout).toMatch(/one +suspended/);
  const answer = await cli('resume', '--json');
  expect(JSON.parse(answer.stdout)).toEqual({ run, paused: false });
  expect(statesOf(`${run}/`)).not.toContain('T');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
  const attempts = engine.entries.filter(({ event }) => event.type === 'attempt.started');
  expect(attempts).toHaveLength(2);
});

test('a suspended task can be cancelled, and a suspended run ended by Ctrl-C', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { one: waiting('one'), two: waiting('two') });
  while (!(await cli('logs', 'one')).stdout.includes('working'));
  while (!(await cli('logs', 'two')).stdout.includes('working'));
  await cli('pause', '--suspend');
  expect((await cli('cancel', 'one')).code).toBe(0);
  await engine.untilFact('task.failed', 'one');
  expect(marked(`${run}/one`)).toEqual([]);
  await vi.waitFor(() => expect(new Set(statesOf(`${run}/two`))).toEqual(new Set(['T'])), SOON);
  engine.child.kill('SIGINT');
  await engine.untilFact('run.stopping');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(130);
  expect(engine.entries.map(({ event }) => event.type)).toContain('merge.landed');
  expect(marked(`${run}/`)).toEqual([]);
});

test('an engine that dies leaves halted agents, and resume ends them and lands the work', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { one: waiting('one') });
  while (!(await cli('logs', 'one')).stdout.includes('working'));
  await cli('pause', '--suspend');
  engine.child.kill('SIGKILL');
  await engine.ended;
  await vi.waitFor(() => expect(new Set(statesOf(`${run}/`))).toEqual(new Set(['T'])), SOON);
  const left = marked(`${run}/`);
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await cli('resume')).code).toBe(0);
  expect(left.filter(isAlive)).toEqual([]);
  expect(existsSync(join(repo.dir, 'one.txt'))).toBe(true);
});

test('a paused run that is live takes no options that only a new engine could follow', async () => {
  await using repo = await tempRepo();
  const { engine, cli } = await liveRun(repo, { one: waiting('one') });
  await cli('pause');
  const refused = await cli('resume', '--max-workers', '3');
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('--max-workers cannot be changed now');
  await cli('resume');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
});
