/** Time as machines have it: clocks that are set back, and laptops that sleep. */

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { sendSignal } from '../../src/process/spawn.ts';
import { landfast } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import {
  begin,
  elsewhere,
  expectWhole,
  journalOf,
  make,
  runOf,
  untilMade,
  WAITS,
} from './scene.ts';

const HOUR_MS = 3_600_000;

function expectInOrder(repo: TempRepo): void {
  const times = journalOf(repo).map(({ at }) => at);
  expect(times).toEqual([...times].sort((a, b) => a - b));
}

test('a clock that is set back by an hour keeps no retry waiting for that hour', async () => {
  await using repo = await tempRepo();
  const clockFile = join(repo.outside, 'clock');
  const script = `test "$LANDFAST_ATTEMPT" = 2 || { echo -${HOUR_MS} > ${clockFile}; exit 1; }
    echo 1 > one.txt`;
  const engine = begin(
    repo,
    { retries: 1, tasks: { one: script } },
    { env: elsewhere({ clockFile }) },
  );
  expect((await engine.ended).code).toBe(0);
  expectInOrder(repo);
  await expectWhole(repo, ['one.txt']);
});

test('nor does one that was set back between two engines', async () => {
  await using repo = await tempRepo();
  const script = `test "$LANDFAST_ATTEMPT" != 1 || exit 1; echo 1 > one.txt; ${WAITS}`;
  const engine = begin(repo, { retries: 1, tasks: { one: script } });
  await engine.untilFact('attempt.failed');
  engine.child.kill('SIGKILL');
  await engine.ended;
  make(repo, 'go');
  const env = elsewhere({ clockMs: -HOUR_MS });
  const resumed = await landfast(['resume'], { cwd: repo.dir, env });
  expect(resumed.code, resumed.stderr).toBe(0);
  expectInOrder(repo);
  await expectWhole(repo, ['one.txt']);
});

/** Speaks Claude Code's stream, is silent until it may go on, and ends well. */
const SILENT = `#!/bin/sh
cat > /dev/null
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo 1 > one.txt
${WAITS}
echo '{"type":"result","subtype":"success","session_id":"s","result":"Done.","is_error":false}'
`;
const IDLE_MS = 10_000;

test('a machine that sleeps longer than the idle limit does not make an agent silent', async () => {
  await using repo = await tempRepo();
  const claude = join(repo.outside, 'claude');
  writeFileSync(claude, SILENT);
  chmodSync(claude, 0o755);
  const one = { agent: 'claude', prompt: 'Do it.', idle: `${IDLE_MS / 1000}s` };
  const engine = begin(repo, { tasks: { one } }, { args: ['--claude-exe', claude] });
  await untilMade(repo, 'up');
  const agents = marked(`${runOf(repo)}/`).map(({ pid }) => pid);
  for (const pid of [engine.child.pid ?? 0, ...agents]) sendSignal(pid, 'SIGSTOP');
  await sleep(IDLE_MS + 2_000); // What is shown is that real time does not count.
  for (const pid of [engine.child.pid ?? 0, ...agents]) sendSignal(pid, 'SIGCONT');
  make(repo, 'go');
  expect((await engine.ended).code).toBe(0);
  const failed = engine.entries.filter(({ event }) => event.type === 'attempt.failed');
  expect(failed).toEqual([]);
  await expectWhole(repo, ['one.txt']);
});
