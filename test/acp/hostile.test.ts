/** The whole program with agents that behave as badly as an agent can (agent.ts). */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { facts, programScene, scriptedTask } from '../support/agents/scene.ts';

const AGENT = join(import.meta.dirname, 'agent.ts');

/** What another session leaves in the environment of the programs it starts. */
const OTHER_SESSION = {
  ANTHROPIC_API_KEY: 'sk-other',
  OPENAI_API_KEY: 'sk-other',
  CLAUDECODE: '1',
  GEMINI_CLI: '1',
  OPENCODE: '1',
};

function task(id: string, more: object = {}): object {
  const command = [process.execPath, AGENT, id];
  return scriptedTask(id, { agent: 'acp', retries: 0, command, ...more });
}

test('noise and questions do no harm: what may be done is done, and it lands', async () => {
  await using scene = await programScene();

  const run = await scene.run({ tasks: [task('rude'), task('lingers')] });
  const { code } = await run.ended;

  expect(code).toBe(0);
  const answers = JSON.parse(await scene.repo.git('show', 'HEAD:rude.json'));
  const unknown = { error: { code: -32601, message: 'Method not found' } };
  const chosen = (optionId: string) => ({ result: { outcome: { outcome: 'selected', optionId } } });
  expect(answers).toEqual([
    ...[unknown, unknown, unknown],
    ...[chosen('yes'), chosen('no'), chosen('no')],
  ]);
  expect(facts(run.entries, 'attempt.denied').map(({ tool }) => tool)).toEqual([
    ...['edit: rude t2', 'execute: rude t3'],
  ]);
  expect(await scene.repo.git('show', 'HEAD:lingers.txt')).toBe('x');
  expect(scene.processes()).toEqual([]);
});

test('a session that cannot be loaded is lost, and the work continues in a new one', async () => {
  await using scene = await programScene();

  const run = await scene.run({ tasks: [task('forgets', { retries: 2 })] });
  const { code } = await run.ended;

  expect(code).toBe(0);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure)).toEqual([
    {
      kind: 'transient',
      message: 'The agent ended without a result. It exited with code 1.',
    },
    {
      kind: 'session-lost',
      message: 'The agent could not load its earlier session. Resource not found',
    },
  ]);
  const [first, second] = facts(run.entries, 'attempt.session').map(({ session }) => session);
  expect(facts(run.entries, 'attempt.started').map(({ start }) => start)).toEqual([
    { kind: 'fresh' },
    { kind: 'continue', session: first },
    { kind: 'continue', session: null },
  ]);
  expect(second).not.toBe(first);
  expect(await scene.repo.git('show', 'HEAD:forgets.txt')).toBe('x');
});

test('each way to fail has its name', async () => {
  await using scene = await programScene();

  const run = await scene.run({ tasks: ['crashes', 'mute', 'newer'].map((id) => task(id)) });
  const { code } = await run.ended;

  expect(code).toBe(1);
  const failures = facts(run.entries, 'task.failed').map(({ task: id, failure }) => [id, failure]);
  expect(Object.fromEntries(failures)).toEqual({
    crashes: {
      kind: 'transient',
      message: 'The agent ended without a result. It exited with code 1.',
    },
    mute: {
      kind: 'permanent',
      message: 'The program did not speak the Agent Client Protocol. It exited with code 0.',
    },
    newer: {
      kind: 'permanent',
      message: 'The agent cannot be used. It speaks version 2 of the protocol, not 1.',
    },
  });
  expect(scene.processes()).toEqual([]);
});

test('an agent that wants a login fails at once, and the user is told to sign in', async () => {
  await using scene = await programScene();

  const run = await scene.run({ tasks: [task('locked', { retries: 3 })] });
  const { code, stderr } = await run.ended;

  expect(code).toBe(1);
  expect(facts(run.entries, 'attempt.started')).toHaveLength(1);
  expect(facts(run.entries, 'task.failed').map(({ failure }) => failure)).toEqual([
    { kind: 'auth', message: 'Authentication required' },
  ]);
  expect(stderr).toContain('Sign in with the agent itself, then resume.');
});

test('an agent gets the variables that the plan names, and no account besides', async () => {
  await using scene = await programScene({
    env: async () => ({ ...OTHER_SESSION, MY_TOKEN: 'x', OTHER_TOKEN: 'y' }),
  });

  const run = await scene.run({
    tasks: [task('curious', { read_only: true, pass_env: ['MY_TOKEN'], env: { MINE: '1' } })],
  });
  const { code } = await run.ended;

  expect(code).toBe(0);
  const [finished] = facts(run.entries, 'attempt.finished');
  const names = finished?.text.split(' ') ?? [];
  expect(names).toEqual(expect.arrayContaining(['MY_TOKEN', 'MINE', 'LANDFAST_TASK']));
  expect(names.filter((name) => /TOKEN|KEY|CLAUDE|GEMINI|OPENCODE/.test(name))).toEqual([
    'MY_TOKEN',
  ]);
});

test('an agent that falls silent and is deaf to signals is ended with all it started', async () => {
  await using scene = await programScene();
  const run = await scene.run({ tasks: [task('hangs')] });
  await run.untilFact('attempt.denied');
  expect(scene.processes().length).toBeGreaterThanOrEqual(2);

  const cancelled = await scene.command('cancel');
  const { code } = await run.ended;

  expect(cancelled).toMatchObject({ code: 0, stderr: '' });
  expect(code).toBe(1);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'cancelled',
  ]);
  expect(scene.processes()).toEqual([]);
});
