/** A limit that the real Gemini CLI cannot wait out itself. */

import { expect, test } from 'vitest';
import { GEMINI } from '../support/agents/real-agents.ts';
import { agentScene, scriptedTask } from '../support/agents/scene.ts';
import { httpError } from '../support/agents/scripted-api.ts';
import { retryIn } from './details.ts';

test('a limit that says when it ends is waited for, without holding a process', async () => {
  const limit = httpError(429, { message: 'Enough', fields: { details: [retryIn(3600)] } });
  await using scene = await agentScene(GEMINI, { limited: [limit] });

  const run = await scene.runTasks([scriptedTask('limited')]);
  await run.untilFact('attempt.failed', 'limited');
  run.child.kill('SIGTERM');
  await run.ended;

  const entry = run.entries.find(({ event }) => event.type === 'attempt.failed');
  const failure = entry?.event.type === 'attempt.failed' ? entry.event.failure : null;
  expect(failure).toMatchObject({ kind: 'rate-limited' });
  const retryAt = failure?.kind === 'rate-limited' ? (failure.retryAt ?? 0) : 0;
  const seconds = (retryAt - (entry?.at ?? 0)) / 1000;
  expect(seconds).toBeGreaterThan(3540);
  expect(seconds).toBeLessThanOrEqual(3600);
  expect(scene.api.requests).toHaveLength(1);
  expect(scene.processes()).toEqual([]);
});
