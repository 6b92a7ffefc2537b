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
/** A script that is stopped in its second step and goes on with the third when it is resumed. */
const STOPPED = [
  write('half.txt', 'half\n'),
  bashForever('busy'),
  write('rest.txt', 'rest\n'),
  say('Done.'),
];

test('cancelling a run ends the agent and its tools, and keeps the work', async () => {
  await using scene = await setScene({
    scenarios: { long: STOPPED },
  });
  const run = await startedTool(scene);

  const cancelled = await scene.command('cancel');
  const { code, stderr } = await run.ended;

  expect(cancelled).toMatchObject({ code: 0, stderr: '' });
  expect(code).toBe(1);
  expect(scene.processes()).toEqual([]);
  expect(facts(run.entries, 'run.finished')).toEqual([
    { type: 'run.finished', outcome: 'cancelled' },
  ]);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'cancelled',
  ]);
  expect(await scene.report()).toMatchObject({
    outcome: 'cancelled',
    tasks: [{ status: 'cancelled', workspace: { state: 'kept' } }],
  });
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md');
  const workspace = await keptWorkspace(scene, stderr);
  expect(await readFile(join(workspace, 'half.txt'), 'utf8')).toBe('half\n');
});

test('a run ended by SIGTERM is resumed in the same session, and lands', async () => {
  await using scene = await setScene({ scenarios: { long: STOPPED } });
  const run = await startedTool(scene);

  run.child.kill('SIGTERM');
  const { code } = await run.ended;

  expect(code).toBe(143);
  expect(scene.processes()).toEqual([]);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'interrupted',
  ]);
  expect(facts(run.entries, 'run.finished').map(({ outcome }) => outcome)).toEqual(['interrupted']);
  await expectResumed(scene);
});

test('an agent that outlives its engine is ended by the next one, which resumes it', async () => {
  await using scene = await setScene({ scenarios: { long: STOPPED } });
  const run = await startedTool(scene);

  run.child.kill('SIGKILL');
  await run.ended;

  expect(scene.processes().length).toBeGreaterThanOrEqual(2);
  await expectResumed(scene);
});

/** Resumes the run: it goes on in the same session, knows what was said, and lands. */
async function expectResumed(scene: Scene): Promise<void> {
  const resumed = scene.resume();
  const { code } = await resumed.ended;

  expect(code).toBe(0);
  const [before, , after] = scene.requests('long');
  const session = before?.session;
  expect(facts(resumed.entries, 'attempt.started').map(({ start }) => start)).toEqual([
    { kind: 'continue', session },
  ]);
  expect(scene.requests('long').map((request) => request.session)).toEqual(
    STOPPED.map(() => session),
  );
  expect(untold(after, 'Do what long says', 'half\n', '# Task long, attempt 2')).toEqual([]);
  expect(await scene.repo.git('ls-tree', '--name-only', 'main')).toBe(
    ['README.md', 'half.txt', 'rest.txt'].join('\n'),
  );
  const subjects = (await scene.repo.git('log', '--first-parent', '--format=%s', 'main')).split(
    '\n',
  );
  expect(subjects.filter((subject) => subject === 'Land long')).toEqual(['Land long']);
  expect((await scene.report()).tasks).toMatchObject([{ id: 'long', state: 'landed', session }]);
  expect(scene.processes()).toEqual([]);
}

/** The workspace that a user finds by the branch that the summary names. */
async function keptWorkspace({ repo }: Scene, summary: string): Promise<string> {
  const branch = /^ +Work is kept in workspaces, on (\S+)\.$/m.exec(summary)?.[1];
  const worktrees = await repo.git('worktree', 'list', '--porcelain');
  const found = worktrees
    .split('\n\n')
    .find((lines) => lines.endsWith(`\nbranch refs/heads/${branch}`));
  return /^worktree (.*)$/m.exec(found ?? '')?.[1] ?? `no workspace on ${branch}`;
}

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
