/**
 * The real Gemini CLI stopped in the middle of a tool: nothing stays alive, and what was only
 * interrupted goes on in the same session.
 */

import { expect, test } from 'vitest';
import { say, shellForever, write } from '../support/generate-api.ts';
import type { Running } from '../support/landfast.ts';
import { facts, geminiTask, type Scene, setScene, untold } from './scene.ts';

const PLAN = {
  defaults: { agent: 'gemini', permissions: 'bypassPermissions' },
  tasks: [geminiTask('long')],
};
/** A script that is stopped in its second step and goes on with the third when it is resumed. */
const STOPPED = [
  write('half.txt', 'half\n'),
  shellForever('busy'),
  write('rest.txt', 'rest\n'),
  say('Done.'),
];

test('cancelling a run ends the agent and its tools, and keeps the work', async () => {
  await using scene = await setScene({ long: STOPPED });
  const run = await startedTool(scene);

  const cancelled = await scene.command('cancel');
  const { code } = await run.ended;

  expect(cancelled).toMatchObject({ code: 0, stderr: '' });
  expect(code).toBe(1);
  expect(scene.processes()).toEqual([]);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'cancelled',
  ]);
  expect(await scene.report()).toMatchObject({
    outcome: 'cancelled',
    tasks: [{ status: 'cancelled', workspace: { state: 'kept' } }],
  });
});

test('a run ended by SIGTERM is resumed in the same session, and lands', async () => {
  await using scene = await setScene({ long: STOPPED });
  const run = await startedTool(scene);

  run.child.kill('SIGTERM');
  const { code } = await run.ended;

  expect(code).toBe(143);
  expect(scene.processes()).toEqual([]);
  const [session] = facts(run.entries, 'attempt.session').map((fact) => fact.session);

  const resumed = scene.resume();
  expect((await resumed.ended).code).toBe(0);

  expect(facts(resumed.entries, 'attempt.started').map(({ start }) => start)).toEqual([
    { kind: 'continue', session },
  ]);
  const third = scene.requests('long')[2];
  expect(untold(third, 'Do what long says', 'half\n', '# Task long, attempt 2')).toEqual([]);
  expect((await scene.repo.git('ls-tree', '--name-only', 'main')).split('\n')).toEqual([
    ...['README.md', 'half.txt', 'rest.txt'],
  ]);
  expect(scene.processes()).toEqual([]);
});

/** Starts the plan and waits until the agent's tool runs: a CLI, a shell and what it started. */
async function startedTool(scene: Scene): Promise<Running> {
  const run = await scene.run(PLAN);
  const tooEarly = run.ended.then(({ stderr }) => {
    throw new Error(`it ended before its tool ran:\n${stderr}`);
  });
  tooEarly.catch(() => {}); // It does end, later.
  await Promise.race([scene.api.rung('busy'), tooEarly]);
  expect(scene.processes().length).toBeGreaterThanOrEqual(2);
  return run;
}
