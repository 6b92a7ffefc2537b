/** What the real CLI cannot put right by itself: a refused key, and limits of the service. */

import { expect, test } from 'vitest';
import { httpError, say } from '../support/messages-api.ts';
import { facts, opencodeTask, setScene } from './scene.ts';

const DEFAULTS = { agent: 'opencode', permissions: 'bypassPermissions' };

test('a refused key fails at once, and the user is told to sign in', async () => {
  await using scene = await setScene({ locked: [httpError(401)] });

  const run = await scene.run({ defaults: DEFAULTS, tasks: [opencodeTask('locked')] });
  const { code, stderr } = await run.ended;

  expect(code).toBe(1);
  expect(facts(run.entries, 'task.failed').map(({ failure }) => failure)).toEqual([
    { kind: 'auth', message: 'scripted 401' },
  ]);
  expect(facts(run.entries, 'attempt.started')).toHaveLength(1);
  expect(scene.api.requests).toHaveLength(1);
  expect(stderr).toContain('Sign in with the agent itself, then go on.');
  expect(scene.processes()).toEqual([]);
});

test('a limit is known with its end, and an hour of it is not sat out in the CLI', async () => {
  await using scene = await setScene({
    spent: [httpError(429, { 'retry-after': '3600' }), say('Too late.')],
  });
  const begun = Date.now();

  const run = await scene.run({ defaults: DEFAULTS, tasks: [opencodeTask('spent')] });
  await run.untilFact('attempt.failed');
  const took = Date.now() - begun;
  await scene.command('cancel');
  await run.ended;

  const [failed] = facts(run.entries, 'attempt.failed');
  expect(failed?.failure).toEqual({
    kind: 'rate-limited',
    message: 'scripted 429',
    retryAt: expect.any(Number),
  });
  const retryAt = failed?.failure.kind === 'rate-limited' ? (failed.failure.retryAt ?? 0) : 0;
  expect(retryAt - begun).toBeGreaterThan(3_600_000);
  expect(retryAt - begun).toBeLessThan(3_600_000 + took);
  expect(took).toBeLessThan(60_000);
  expect(scene.api.requests).toHaveLength(1);
  expect(scene.processes()).toEqual([]);
});

test('a limit that outlasts the CLI’s six tries is told as one', async () => {
  // So long the CLI waits between its tries; without the header it would take a minute.
  await using scene = await setScene({ busy: [httpError(429, { 'retry-after-ms': '1' })] });

  const run = await scene.run({ defaults: DEFAULTS, tasks: [opencodeTask('busy')] });
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
