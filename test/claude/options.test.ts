/** What a plan asks of the real CLI, and the limits and silences it has to live with. */

import { expect, test } from 'vitest';
import { bash, hang, httpError, say, tool, write } from '../support/messages-api.ts';
import { claudeTask, facts, setScene } from './scene.ts';

test('rules, a schema and a turn limit reach the CLI; what is not allowed is denied', async () => {
  await using scene = await setScene({
    scenarios: {
      ruled: [
        write('a.txt', 'x\n'),
        bash('git status --short'),
        bash('npm --version'),
        tool('StructuredOutput', { answer: 'yes' }),
        say('Done.'),
      ],
    },
  });
  const run = await scene.run({
    defaults: { agent: 'claude', permissions: 'dontAsk' },
    tasks: [
      {
        ...claudeTask('ruled'),
        tools: { allowed_cli: ['git'], allowed_tools: ['Write'] },
        max_turns: 20,
        schema: {
          type: 'object',
          properties: { answer: { type: 'string' } },
          required: ['answer'],
        },
      },
    ],
  });
  expect((await run.ended).code).toBe(0);
  const [finished] = facts(run.entries, 'attempt.finished');
  expect(finished).toMatchObject({ files: ['a.txt'], structured: { answer: 'yes' } });
  expect(facts(run.entries, 'attempt.denied').map(({ tool: name }) => name)).toEqual(['Bash']);
});

test('a limit that says when it resets is waited for, and the same session goes on', async () => {
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
  await using scene = await setScene({
    scenarios: { limited: [httpError(429, headers), write('b.txt', 'x\n'), say('Done.')] },
    env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-not-a-token' },
  });
  const run = await scene.run({
    defaults: { agent: 'claude', permissions: 'bypassPermissions', retries: 0 },
    tasks: [claudeTask('limited')],
  });
  expect((await run.ended).code).toBe(0);
  const [failed] = facts(run.entries, 'attempt.failed');
  expect(failed?.failure).toMatchObject({ kind: 'rate-limited', retryAt: resetsAt * 1000 });
  const [first, second] = run.entries.filter(({ event }) => event.type === 'attempt.started');
  expect(second?.at).toBeGreaterThanOrEqual(resetsAt * 1000);
  expect(second?.event).toMatchObject({ start: { kind: 'continue' } });
  expect(first?.event).toMatchObject({ start: { kind: 'fresh' } });
});

test('an overloaded service is asked again by the CLI, and the work lands', async () => {
  await using scene = await setScene({
    scenarios: { busy: [httpError(529), httpError(529), write('c.txt', 'x\n'), say('Done.')] },
  });
  const run = await scene.run({
    defaults: { agent: 'claude', permissions: 'bypassPermissions' },
    tasks: [claudeTask('busy')],
  });
  expect((await run.ended).code).toBe(0);
  expect(facts(run.entries, 'attempt.started')).toHaveLength(1);
  const { stdout } = await scene.command('logs', 'busy');
  expect(stdout.match(/\[retry\]/g)).toHaveLength(2);
});

test('a service that falls silent: the agent is ended and its session goes on', async () => {
  await using scene = await setScene({
    scenarios: { silent: [write('d.txt', 'half\n'), hang('stream'), say('Done.')] },
  });
  const run = await scene.run({
    defaults: { agent: 'claude', permissions: 'bypassPermissions', idle: '12s' },
    tasks: [claudeTask('silent')],
  });
  expect((await run.ended).code).toBe(0);
  expect(facts(run.entries, 'attempt.failed').map(({ failure }) => failure.kind)).toEqual([
    'idle-timeout',
  ]);
  const last = scene.requests('silent').at(-1);
  expect(JSON.stringify(last?.body)).toContain('d.txt'); // What was said before is still known.
  expect(scene.processes()).toEqual([]);
});
