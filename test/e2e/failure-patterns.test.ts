/** What a plan says of its agents' failures decides what follows them. */

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const RETRY = { retries: 1, retry: { pause: 0 } };

test('a failure that only words tell is of the kind that the plan gives them', async () => {
  await using repo = await tempRepo();
  const program = join(repo.outside, 'agent');
  writeFileSync(program, '#!/bin/sh\necho "All SEATS are taken."\nexit 1\n');
  chmodSync(program, 0o755);
  const command = { agent: 'command', command: [program], prompt: 'x' };
  const failures = [{ match: 'seats are taken', kind: 'permanent', agent: 'command' }];
  const run = await runPlan(repo, {
    tasks: { a: command, b: { prompt: 'echo "All seats are taken."; exit 1' } },
    more: { failures, defaults: { agent: 'shell', ...RETRY } },
  });
  expect(run.code).toBe(1);
  const kinds = (task: string) => run.of('attempt.failed', task).map(({ failure }) => failure.kind);
  expect(kinds('a')).toEqual(['permanent']);
  expect(kinds('b')).toEqual(['exit-code', 'exit-code']);
});

test('a pattern for an agent that does not exist is refused', async () => {
  await using repo = await tempRepo();
  const failures = [{ match: 'x', kind: 'auth', agent: 'clod' }];
  const run = await runPlan(repo, { tasks: { a: 'true' }, more: { failures } });
  expect(run).toMatchObject({ code: 2, facts: [] });
  expect(run.stderr).toMatch(/plan\.yaml:\d+:\d+: error: failures\[0\]\.agent: .* found "clod"/);
});
