/** Troubles that the real Codex CLI cannot solve itself: limits and a lost network. */

import { expect, test } from 'vitest';
import { CODEX } from '../support/agents/real-agents.ts';
import { type AgentScene, agentScene, facts, scriptedTask } from '../support/agents/scene.ts';
import { httpError, say } from '../support/agents/scripted-api.ts';

test('a usage limit is known with the time it resets', async () => {
  const resetsAt = Math.floor(Date.now() / 1000) + 3 * 24 * 3600;
  const fields = { type: 'usage_limit_reached', resets_at: resetsAt };
  await using scene = await agentScene(CODEX, {
    spent: [httpError(429, { message: 'Too much.', fields })],
  });

  const failure = await firstFailure(scene, 'spent');

  expect(failure).toEqual({
    kind: 'rate-limited',
    message: expect.stringContaining('hit your usage limit'),
    retryAt: (Math.floor(resetsAt / 60) + 1) * 60_000,
  });
  expect(scene.api.requests).toHaveLength(1);
});

test('a limit that the CLI would sit out for an hour frees its place after seconds', async () => {
  const patience = { headers: { 'retry-after': '3600' } };
  await using scene = await agentScene(CODEX, {
    busy: [httpError(429, patience), say('Too late.')],
  });

  const failure = await firstFailure(scene, 'busy');

  const message = 'exceeded retry limit, last status: 429 Too Many Requests';
  expect(failure).toEqual({ kind: 'rate-limited', message });
  expect(scene.api.requests).toHaveLength(1);
});

test('a network that is gone frees its place as well', async () => {
  await using scene = await agentScene(CODEX, {}, { url: 'http://127.0.0.1:9' });

  const failure = await firstFailure(scene, 'alone');

  const message = 'No network. Connection failed: error sending request';
  expect(failure).toEqual({ kind: 'transient', message });
});

/** The failure of a task's first attempt; the run is cancelled before the next. */
async function firstFailure(scene: AgentScene, task: string): Promise<unknown> {
  const run = await scene.runTasks([scriptedTask(task)]);
  await run.untilFact('attempt.failed');
  await scene.command('cancel');
  await run.ended;
  expect(scene.processes()).toEqual([]);
  return facts(run.entries, 'attempt.failed')[0]?.failure;
}
