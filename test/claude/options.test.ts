/** Options of a plan that reach the real Claude Code CLI, and the limits of its service. */

import { expect, test } from 'vitest';
import { CLAUDE } from '../support/agents/real-agents.ts';
import { agentScene, facts, scriptedTask } from '../support/agents/scene.ts';
import { httpError, say, toolCall } from '../support/agents/scripted-api.ts';

const { shell, write } = CLAUDE;

test('rules, a schema and a turn limit reach the CLI; what is not allowed is denied', async () => {
  await using scene = await agentScene(CLAUDE, {
    ruled: [
      write('a.txt', 'x\n'),
      shell('git status --short'),
      shell('npm --version'),
      toolCall('StructuredOutput', { answer: 'yes' }),
      say('Done.'),
    ],
  });
  const ruled = scriptedTask('ruled', {
    permissions: 'dontAsk',
    tools: { allowed_cli: ['git'], allowed_tools: ['Write'] },
    max_turns: 20,
    schema: {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
    },
  });
  const run = await scene.runTasks([ruled]);
  expect((await run.ended).code).toBe(0);
  const [finished] = facts(run.entries, 'attempt.finished');
  expect(finished).toMatchObject({ files: ['a.txt'], structured: { answer: 'yes' } });
  expect(facts(run.entries, 'attempt.denied').map(({ tool }) => tool)).toEqual(['Bash']);
});

test('a limit that says when it resets is waited for, and the same session continues', async () => {
  let resetsAt = 0;
  const headers = {
    'retry-after': '3600',
    'anthropic-ratelimit-unified-status': 'rejected',
    get 'anthropic-ratelimit-unified-reset'() {
      resetsAt = Math.ceil(Date.now() / 1000) + 8; // From the answer on, however late that comes.
      return String(resetsAt);
    },
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  };
  await using scene = await agentScene(
    CLAUDE,
    { limited: [httpError(429, { headers }), write('b.txt', 'x\n'), say('Done.')] },
    { env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-not-a-token' } },
  );
  const run = await scene.runTasks([scriptedTask('limited', { retries: 0 })]);
  expect((await run.ended).code).toBe(0);
  const [failed] = facts(run.entries, 'attempt.failed');
  expect(failed?.failure).toMatchObject({ kind: 'rate-limited', retryAt: resetsAt * 1000 });
  const [first, second] = run.entries.filter(({ event }) => event.type === 'attempt.started');
  expect(second?.at).toBeGreaterThanOrEqual(resetsAt * 1000);
  expect(second?.event).toMatchObject({ start: { kind: 'continue' } });
  expect(first?.event).toMatchObject({ start: { kind: 'fresh' } });
});

test('an overloaded service is asked again by the CLI, and the work lands', async () => {
  await using scene = await agentScene(CLAUDE, {
    busy: [httpError(529), httpError(529), write('c.txt', 'x\n'), say('Done.')],
  });
  const run = await scene.runTasks([scriptedTask('busy')]);
  expect((await run.ended).code).toBe(0);
  expect(facts(run.entries, 'attempt.started')).toHaveLength(1);
  const { stdout } = await scene.command('logs', 'busy');
  expect(stdout.match(/^[\d:]+ {2}retry /gm)).toHaveLength(2);
});
