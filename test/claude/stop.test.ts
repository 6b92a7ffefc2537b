/**
 * The real Claude Code CLI stopped in the middle of a tool: nothing stays alive, no work is lost,
 * and what was only interrupted goes on in the same session.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Running } from '../support/landfast.ts';
import { bashForever, say, write } from '../support/messages-api.ts';
import { claudeTask, facts, type Scene, setScene, untold } from './scene.ts';

const PLAN = {
  defaults: { agent: 'claude', permissions: 'bypassPermissions' },
  tasks: [claudeTask('long')],
};

test('cancelling a run ends the agent and its tools, and keeps the work', async () => {
  await using scene = await setScene({
    scenarios: { long: [write('half.txt', 'half\n'), bashForever('busy')] },
  });
  const run = await startedTool(scene);

  const cancelled = await scene.command('cancel');
  const { code } = await run.ended;

  expect(cancelled).toMatchObject({ code: 0, stderr: '' });
  expect(code).toBe(1);
  expect(scene.processes()).toEqual([]);
  expect(facts(run.entries, 'run.finished')).toEqual([
    { type: 'run.finished', outcome: 'cancelled' },
  ]);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'cancelled',
  ]);
  const report = await scene.report();
  expect(report).toMatchObject({
    outcome: 'cancelled',
    tasks: [{ status: 'cancelled', workspace: { state: 'kept' } }],
  });
  const workspace = join(`${scene.repo.dir}.worktrees`, report.run, 'long');
  expect(await readFile(join(workspace, 'half.txt'), 'utf8')).toBe('half\n');
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md');
});

test('a run ended by SIGTERM is resumed in the same session, and lands', async () => {
  await using scene = await setScene({
    scenarios: {
      long: [
        write('half.txt', 'half\n'),
        bashForever('busy'),
        write('rest.txt', 'rest\n'),
        say('Done.'),
      ],
    },
  });
  const run = await startedTool(scene);

  run.child.kill('SIGTERM');
  const { code } = await run.ended;

  expect(code).toBe(143);
  expect(scene.processes()).toEqual([]);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'interrupted',
  ]);
  expect(facts(run.entries, 'run.finished').map(({ outcome }) => outcome)).toEqual(['interrupted']);

  const resumed = scene.resume();
  expect((await resumed.ended).code).toBe(0);

  const [before, , after] = scene.requests('long');
  const session = before?.session;
  expect(facts(resumed.entries, 'attempt.started').map(({ start }) => start)).toEqual([
    { kind: 'continue', session },
  ]);
  expect(scene.requests('long').map((request) => request.session)).toEqual(
    Array.from({ length: 4 }, () => session),
  );
  expect(untold(after, 'Do what long says', 'half\n', '# Task long, attempt 2')).toEqual([]);
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe(
    ['README.md', 'half.txt', 'rest.txt'].join('\n'),
  );
  expect((await scene.report()).tasks).toMatchObject([{ id: 'long', state: 'landed', session }]);
  expect(scene.processes()).toEqual([]);
});

/** Starts the plan and waits until the agent's tool runs: a CLI, a shell and what it started. */
async function startedTool(scene: Scene): Promise<Running> {
  const run = await scene.run(PLAN);
  await scene.api.rung('busy');
  expect(scene.processes().length).toBeGreaterThanOrEqual(2);
  return run;
}
