/** What the real CLI cannot put right by itself: a refused log-in, limits, a lost network. */

import { expect, test } from 'vitest';
import type { Running } from '../support/landfast.ts';
import { httpError, say } from '../support/responses-api.ts';
import { codexTask, facts, type Scene, setScene } from './scene.ts';

const DEFAULTS = { agent: 'codex', permissions: 'bypassPermissions' };

test('a refused log-in fails at once, and the user is told to sign in', async () => {
  await using scene = await setScene({ locked: [httpError(401)] });

  const run = await scene.run({ defaults: DEFAULTS, tasks: [codexTask('locked')] });
  const { code, stderr } = await run.ended;

  expect(code).toBe(1);
  expect(facts(run.entries, 'task.failed').map(({ failure }) => failure)).toEqual([
    { kind: 'auth', message: expect.stringMatching(/^unexpected status 401 Unauthorized/) },
  ]);
  expect(facts(run.entries, 'attempt.started')).toHaveLength(1);
  // Left alone, the CLI would ask six times.
  expect(scene.api.requests.length).toBeLessThanOrEqual(2);
  expect(stderr).toContain('Sign in with the agent itself, then go on.');
  expect(scene.processes()).toEqual([]);
});

test('a usage limit is known with the time it resets', async () => {
  const resetsAt = Math.floor(Date.now() / 1000) + 3 * 24 * 3600;
  const error = { type: 'usage_limit_reached', message: 'Too much.', resets_at: resetsAt };
  await using scene = await setScene({ spent: [httpError(429, { error })] });

  const run = await scene.run({ defaults: DEFAULTS, tasks: [codexTask('spent')] });
  const failure = await failureThenCancel(scene, run);

  expect(failure).toEqual({
    kind: 'rate-limited',
    message: expect.stringContaining('hit your usage limit'),
    retryAt: (Math.floor(resetsAt / 60) + 1) * 60_000,
  });
  expect(scene.api.requests).toHaveLength(1);
});

test('a limit that the CLI would sit out for an hour frees its place after seconds', async () => {
  const patience = { headers: { 'retry-after': '3600' } };
  await using scene = await setScene({ busy: [httpError(429, patience), say('Too late.')] });

  const run = await scene.run({ defaults: DEFAULTS, tasks: [codexTask('busy')] });
  const failure = await failureThenCancel(scene, run);

  const message = 'exceeded retry limit, last status: 429 Too Many Requests';
  expect(failure).toEqual({ kind: 'rate-limited', message });
  expect(scene.api.requests).toHaveLength(1);
});

test('a network that is gone frees its place, too', async () => {
  await using scene = await setScene({}, 'http://127.0.0.1:9');

  const run = await scene.run({ defaults: DEFAULTS, tasks: [codexTask('alone')] });
  const failure = await failureThenCancel(scene, run);

  const message = 'No network. Connection failed: error sending request';
  expect(failure).toEqual({ kind: 'transient', message });
});

/** The first attempt's failure; what would follow is not waited for. */
async function failureThenCancel(scene: Scene, run: Running): Promise<unknown> {
  await run.untilFact('attempt.failed');
  await scene.command('cancel');
  await run.ended;
  expect(scene.processes()).toEqual([]);
  return facts(run.entries, 'attempt.failed')[0]?.failure;
}
