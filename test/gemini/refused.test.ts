/** What the real Gemini CLI cannot put right by itself: a wrong key, and limits. */

import { expect, test } from 'vitest';
import { httpError, retryIn } from '../support/generate-api.ts';
import { facts, geminiTask, setScene } from './scene.ts';

const DEFAULTS = { agent: 'gemini', permissions: 'bypassPermissions' };

test('a wrong key fails at once, and the user is told to sign in', async () => {
  const said = 'API key not valid. Please pass a valid API key.';
  await using scene = await setScene({ locked: [httpError(400, said)] });

  const run = await scene.run({ defaults: DEFAULTS, tasks: [geminiTask('locked')] });
  const { code, stderr } = await run.ended;

  expect(code).toBe(1);
  expect(facts(run.entries, 'task.failed').map(({ failure }) => failure)).toEqual([
    { kind: 'auth', message: `The service answered 400: ${said}` },
  ]);
  expect(facts(run.entries, 'attempt.started')).toHaveLength(1);
  expect(scene.api.requests).toHaveLength(1);
  expect(stderr).toContain('Sign in with the agent itself, then go on.');
  expect(scene.processes()).toEqual([]);
});

test('a limit that says when it ends is waited for, without holding a process', async () => {
  await using scene = await setScene({ limited: [httpError(429, 'Enough', [retryIn(3600)])] });

  const run = await scene.run({ defaults: DEFAULTS, tasks: [geminiTask('limited')] });
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
