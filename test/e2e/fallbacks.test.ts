/** A task whose agent does not manage it goes to another model or another agent. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { standIns } from '../support/stand-ins.ts';
import { tempRepo } from '../support/temp-repo.ts';

const TRANSIENT = '"is_error":true,"api_error_status":500,"terminal_reason":"api_error"';
const DONE = 'printf %s "$prompt" > "$OUT/prompt-$LANDFAST_TASK"; echo codex >> work.txt; good';

test('when its retries are used up the next model gets it, then the next agent, with the work so far', async () => {
  await using repo = await tempRepo();
  const claude = `hello; echo "$session $argv" >> "$OUT/calls"; echo half >> work.txt
result '${TRANSIENT}'; exit 1`;
  const env = standIns(repo, { claude, codex: DONE });
  const fallbacks = [{ agent: 'claude', model: 'second' }, { agent: 'codex' }];
  const a = { agent: 'claude', model: 'first', retries: 1, fallbacks, prompt: 'Do it.' };
  const run = await runPlan(repo, { tasks: { a } }, { env });
  expect(run.code, run.stderr).toBe(0);
  expect(run.of('attempt.started').map(({ start, by }) => [start.kind, by])).toEqual([
    ['fresh', undefined],
    ['continue', undefined],
    ['continue', { agent: 'claude', model: 'second' }],
    ['continue', { agent: 'claude', model: 'second' }],
    ['continue', { agent: 'codex' }],
  ]);
  const calls = readFileSync(join(repo.outside, 'calls'), 'utf8').trimEnd().split('\n');
  expect(calls.map((call) => /--model (\S+)/.exec(call)?.[1])).toEqual([
    ...['first', 'first', 'second', 'second'],
  ]);
  const sessions = calls.map((call) => call.split(' ')[0]);
  expect([sessions[0] === sessions[1], sessions[2] === sessions[3]]).toEqual([true, true]);
  expect(sessions[1]).not.toBe(sessions[2]);
  const prompt = readFileSync(join(repo.outside, 'prompt-a'), 'utf8');
  expect(prompt).toContain('claude (first) has tried this 2 times without success');
  expect(prompt).toContain('claude (second) has tried this 2 times without success');
  expect(prompt).toContain('Do it.');
  expect(await repo.git('show', 'main:work.txt')).toBe('half\nhalf\nhalf\nhalf\ncodex');
});

test('an agent without a login is asked once; all of its tasks go to their fallbacks', async () => {
  await using repo = await tempRepo();
  const claude = `echo x >> "$OUT/calls"; hello
result '"is_error":true,"api_error_status":401,"terminal_reason":"api_error"'; exit 1`;
  const env = standIns(repo, { claude, codex: DONE.replace('work.txt', '$LANDFAST_TASK.txt') });
  const task = { agent: 'claude', fallbacks: [{ agent: 'codex' }], prompt: 'Do it.' };
  const run = await runPlan(repo, { workers: 1, tasks: { a: task, b: task } }, { env });
  expect(run.code, run.stderr).toBe(0);
  expect(readFileSync(join(repo.outside, 'calls'), 'utf8')).toBe('x\n');
  const starts = run.of('attempt.started').map(({ task: id, by }) => [id, by?.agent ?? 'claude']);
  expect(starts).toEqual([
    ['a', 'claude'],
    ['a', 'codex'],
    ['b', 'codex'],
  ]);
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\na.txt\nb.txt');
});

test('a fallback that is not installed is reported before anything starts', async () => {
  await using repo = await tempRepo();
  const env = standIns(repo, { claude: 'exit 1' });
  const a = { agent: 'claude', fallbacks: [{ agent: 'codex' }], prompt: 'Do it.' };
  const run = await runPlan(repo, { tasks: { a } }, { env });
  expect(run).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('codex') });
  expect((await landfast(['runs', '--json'], { cwd: repo.dir })).stdout).toBe('[]\n');
});
