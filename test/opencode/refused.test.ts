/** Limits of the service that the real OpenCode CLI cannot wait out itself. */

import { expect, test } from 'vitest';
import { OPENCODE } from '../support/agents/real-agents.ts';
import { agentScene, facts, scriptedTask } from '../support/agents/scene.ts';
import { httpError, say } from '../support/agents/scripted-api.ts';

test('a limit is known with its end, and an hour of it is not sat out in the CLI', async () => {
  await using scene = await agentScene(OPENCODE, {
    spent: [httpError(429, { headers: { 'retry-after': '3600' } }), say('Too late.')],
  });
  const startedAt = Date.now();

  const run = await scene.runTasks([scriptedTask('spent')]);
  await run.untilFact('attempt.failed');
  const took = Date.now() - startedAt;
  await scene.command('cancel');
  await run.ended;

  const [failed] = facts(run.entries, 'attempt.failed');
  expect(failed?.failure).toEqual({
    kind: 'rate-limited',
    message: 'scripted 429',
    retryAt: expect.any(Number),
  });
  const retryAt = failed?.failure.kind === 'rate-limited' ? (failed.failure.retryAt ?? 0) : 0;
  expect(retryAt - startedAt).toBeGreaterThan(3_600_000);
  expect(retryAt - startedAt).toBeLessThan(3_600_000 + took);
  expect(took).toBeLessThan(60_000);
  expect(scene.api.requests).toHaveLength(1);
  expect(scene.processes()).toEqual([]);
});

test('a limit that outlasts the CLI’s six tries is told as one', async () => {
  // The header shortens the pause between the CLI's tries, which would take a minute in all.
  const busy = [httpError(429, { headers: { 'retry-after-ms': '1' } })];
  await using scene = await agentScene(OPENCODE, { busy });

  const run = await scene.runTasks([scriptedTask('busy')]);
  await run.untilFact('attempt.failed');
  await scene.command('cancel');
  await run.ended;

  expect(facts(run.entries, 'attempt.failed')[0]?.failure).toMatchObject({
    kind: 'rate-limited',
    message: 'scripted 429',
  });
  expect(scene.api.requests.slice(0, 6).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(scene.processes()).toEqual([]);
});
