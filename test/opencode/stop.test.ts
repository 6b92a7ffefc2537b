/**
 * The real OpenCode CLI stopped in the middle of a tool. By itself it would leave the tool's
 * processes behind: nothing stays alive, and no work is lost.
 */

import { expect, test } from 'vitest';
import { say } from '../support/messages-api.ts';
import { facts, opencodeTask, setScene } from './scene.ts';
import { bashForever, write } from './steps.ts';

const PLAN = {
  defaults: { agent: 'opencode', permissions: 'bypassPermissions' },
  tasks: [opencodeTask('long')],
};

test('cancelling a run ends the agent and its tools, and keeps the work', async () => {
  await using scene = await setScene({
    long: [write('half.txt', 'half\n'), bashForever('busy'), say('Done.')],
  });
  const run = await scene.run(PLAN);
  const tooEarly = run.ended.then(({ stderr }) => {
    throw new Error(`it ended before its tool ran:\n${stderr}`);
  });
  tooEarly.catch(() => {}); // It does end, later.
  await Promise.race([scene.api.rung('busy'), tooEarly]);
  expect(scene.processes().length).toBeGreaterThanOrEqual(2);

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
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md');
});
