/**
 * The real Codex CLI stopped in the middle of a tool: nothing stays alive, no work is lost, and
 * what was only interrupted goes on in the same session.
 */

import { expect, test } from 'vitest';
import type { Running } from '../support/landfast.ts';
import { say, shellForever, write } from '../support/responses-api.ts';
import { codexTask, facts, type Scene, setScene, untold } from './scene.ts';

const PLAN = {
  defaults: { agent: 'codex', permissions: 'bypassPermissions' },
  tasks: [codexTask('long')],
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
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md');
});

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a run ended by %s is resumed in the same session, and lands',
  async (signal) => {
    await using scene = await setScene({ long: STOPPED });
    const run = await startedTool(scene);

    run.child.kill(signal);
    await run.ended;
    const left = scene.processes().length;
    const resumed = scene.resume();
    const { code } = await resumed.ended;

    expect(left > 0).toBe(signal === 'SIGKILL'); // The next engine ends what the last one left.
    expect(code).toBe(0);
    const [before, , after] = scene.requests('long');
    const session = before?.session;
    expect(facts(resumed.entries, 'attempt.started').map(({ start }) => start)).toEqual([
      { kind: 'continue', session },
    ]);
    expect(scene.requests('long').map((request) => request.session)).toEqual(
      STOPPED.map(() => session),
    );
    expect(untold(after, 'Do what long says', '+half', '# Task long, attempt 2')).toEqual([]);
    expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe(
      ['README.md', 'half.txt', 'rest.txt'].join('\n'),
    );
    expect(scene.processes()).toEqual([]);
  },
);

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
