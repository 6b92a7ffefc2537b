/** Work of the real Gemini CLI that lands although its service has trouble. */

import { expect, test } from 'vitest';
import { GEMINI } from '../support/agents/real-agents.ts';
import { agentScene, facts, scriptedTask, untold } from '../support/agents/scene.ts';
import { hang, httpError, say, toolCall } from '../support/agents/scripted-api.ts';
import { retryIn } from './details.ts';

const { shell, write } = GEMINI;

const SCENARIOS = {
  busy: [
    httpError(503),
    httpError(429, { message: 'Too many requests', fields: { details: [retryIn(1)] } }),
    write('busy.txt', 'late\n'),
    say('Late, but done.'),
  ],
  careful: [
    shell('touch sneaky.txt'),
    write('careful.txt', 'allowed\n'),
    toolCall('enter_plan_mode', { reason: 'to leave it again' }),
    say('Done without it.'),
  ],
  late: [hang(), write('late.txt', 'late\n'), say('Done.')],
};

test('three tasks land: one waits, one is denied, one gets no reply in its first attempt', async () => {
  await using scene = await agentScene(GEMINI, SCENARIOS);

  const run = await scene.runTasks([
    scriptedTask('busy', { model: 'gemini-2.5-flash' }),
    scriptedTask('careful', { permissions: 'acceptEdits' }),
    scriptedTask('late', { idle: '20s' }),
  ]);
  const { code, stderr } = await run.ended;

  expect(stderr).toContain('All 3 tasks succeeded');
  expect(code).toBe(0);
  expect((await scene.repo.git('ls-tree', '--name-only', 'main')).split('\n')).toEqual([
    ...['README.md', 'busy.txt', 'careful.txt', 'late.txt'],
  ]);
  expect(new Set(scene.requests('busy').map(({ model }) => model))).toEqual(
    new Set(['gemini-2.5-flash']),
  );
  expect(facts(run.entries, 'attempt.started', 'busy')).toHaveLength(1);
  expect(facts(run.entries, 'attempt.denied').map(({ task, tool }) => [task, tool])).toEqual([
    ['careful', 'run_shell_command'],
    ['careful', 'enter_plan_mode'],
  ]);

  const [session] = facts(run.entries, 'attempt.session', 'late').map((fact) => fact.session);
  expect(
    facts(run.entries, 'attempt.failed').map(({ task, failure }) => [task, failure.kind]),
  ).toEqual([['late', 'idle-timeout']]);
  expect(facts(run.entries, 'attempt.started', 'late').map(({ start }) => start)).toEqual([
    { kind: 'fresh' },
    { kind: 'continue', session },
  ]);
  const last = scene.requests('late').at(-1);
  expect(untold(last, 'Do what late says', '# Task late, attempt 2')).toEqual([]);
  expect(scene.processes()).toEqual([]);
});
