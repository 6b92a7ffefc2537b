/** An agent at a limit whose end is known: its tasks wait, and go on where they were. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { elsewhere } from '../faults/scene.ts';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { standIns } from '../support/stand-ins.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const HOUR_MS = 3_600_000;

/** At its limit until then, and as good as ever afterwards. */
const claudeUntil = (reset: number): string => `hello
echo "$LANDFAST_TASK $session \${resumed:-new}" >> "$OUT/calls"
if test -e "$OUT/served"; then echo done >> "$LANDFAST_TASK.txt"; result '"is_error":false'; exit; fi
echo half > "$LANDFAST_TASK.txt"
echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":${reset}}}'
echo '{"type":"assistant","error":"rate_limit","message":{"content":[]}}'
result '"is_error":true,"api_error_status":429,"terminal_reason":"api_error"'
exit 1`;

interface Status {
  readonly run: string;
  readonly tasks: readonly { id: string; state: string; detail: string; waits_for: unknown }[];
}

/** What the tasks of the agent wait for, by text and as data. */
async function expectParked(repo: TempRepo, reset: number): Promise<string> {
  const json = await landfast(['status', '--json'], { cwd: repo.dir });
  const { run, tasks } = JSON.parse(json.stdout) as Status;
  const until = new Date(reset * 1_000).toISOString();
  const waits = { kind: 'limit', agent: 'claude', until };
  expect(tasks.filter(({ id }) => id !== 'script')).toMatchObject([
    { id: 'a', state: 'retrying', waits_for: waits },
    { id: 'b', state: 'waiting', waits_for: waits },
  ]);
  const env = { TZ: 'UTC' };
  const { stdout } = await landfast(['status'], { cwd: repo.dir, env });
  expect(stdout.match(/waits: claude is at its limit until/g)).toHaveLength(2);
  expect(stdout).toContain(`is at its limit until ${until.slice(11, 16)}`);
  expect(marked(`${run}/`)).toEqual([]); // Nothing runs for them meanwhile.
  return run;
}

test('its tasks wait for the reset, say so, and go on in their sessions, also in another engine', async () => {
  await using repo = await tempRepo();
  const reset = Math.ceil((Date.now() + HOUR_MS) / 1_000);
  const clockFile = join(repo.outside, 'clock');
  const env = { ...standIns(repo, { claude: claudeUntil(reset) }), ...elsewhere({ clockFile }) };
  const task = { agent: 'claude', prompt: 'Do it.', retries: 0 };
  const tasks = { a: task, b: task, script: 'echo 1 > script.txt' };
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ workers: 1, tasks }));

  const first = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir, env });
  await first.untilFact('merge.landed', 'script'); // Others go on meanwhile.
  const run = await expectParked(repo, reset);
  first.child.kill('SIGTERM');
  expect((await first.ended).code).toBe(143);

  const second = start(['resume', '--events'], { cwd: repo.dir, env });
  await second.untilFact('run.resumed');
  expect(await expectParked(repo, reset)).toBe(run);
  writeFileSync(join(repo.outside, 'served'), '');
  writeFileSync(clockFile, String(HOUR_MS + 60_000)); // Time passes.
  const ended = await second.ended;

  expect(ended.code, ended.stderr).toBe(0);
  const calls = readFileSync(join(repo.outside, 'calls'), 'utf8').trimEnd().split('\n');
  const [id, session] = calls[0]?.split(' ') ?? [];
  expect(calls).toEqual([
    `${id} ${session} new`,
    `a ${session} ${session}`,
    expect.stringMatching(/^b \S+ new$/),
  ]);
  const starts = second.entries.filter(({ event }) => event.type === 'attempt.started');
  expect(starts.map(({ event }) => event)).toMatchObject([
    { task: 'a', attempt: 2, start: { kind: 'continue', session } },
    { task: 'b', attempt: 1, start: { kind: 'fresh' } },
  ]);
  for (const { at } of starts) expect(at).toBeGreaterThanOrEqual(reset * 1_000);
  expect(await repo.git('show', 'main:a.txt')).toBe('half\ndone');
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe(
    ['README.md', 'a.txt', 'b.txt', 'script.txt'].join('\n'),
  );
});
