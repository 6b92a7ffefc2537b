/** Any program as an agent, in a whole run: what reaches it, what its end means, what lands. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { type Running, start } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** An agent of one line: what it is told becomes a file. */
const FROM_STDIN = ['sh', '-c', 'cat > told.txt; echo Done.'];
const FROM_ARGUMENT = ['sh', '-c', 'printf %s "$1" > told.txt', 'agent', '{prompt}'];

test('the prompt arrives on standard input, with the rules, and the work lands', async () => {
  await using repo = await tempRepo();
  const run = await started(repo, { command: FROM_STDIN });
  const { code } = await run.ended;

  expect(code).toBe(0);
  const told = await repo.git('show', 'main:told.txt');
  expect(told).toContain("# Task job\n\nSay $(touch oops) 'so'.");
  expect(told).toContain('# Rules');
  expect(failures(run)).toEqual([]);
});

test('as an argument it arrives unharmed: no shell is in between', async () => {
  await using repo = await tempRepo();
  const run = await started(repo, { command: FROM_ARGUMENT, prompt_as: 'argument' });
  const { code } = await run.ended;

  expect(code).toBe(0);
  expect(await repo.git('show', 'main:told.txt')).toContain("Say $(touch oops) 'so'.");
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\ntold.txt');
});

test('a prompt too long for an argument fails in words, once, and nothing is started', async () => {
  await using repo = await tempRepo();
  const prompt = 'x'.repeat(130_000);
  const run = await started(repo, { command: FROM_ARGUMENT, prompt_as: 'argument', prompt });
  const { code } = await run.ended;

  expect(code).toBe(1);
  const message = expect.stringMatching(/^The prompt is too long for an argument \(\d+ KB of/);
  expect(failures(run)).toEqual([{ kind: 'permanent', message }]);
});

test('a program that fails is tried again, and knows which attempt it is', async () => {
  await using repo = await tempRepo();
  const script = 'cat > told.txt; [ "$LANDFAST_ATTEMPT" = 2 ] || exit 7';
  const run = await started(repo, { command: ['sh', '-c', script], retries: 1 });
  const { code } = await run.ended;

  expect(failures(run)).toEqual([{ kind: 'exit-code', message: 'It exited with code 7.' }]);
  expect(code).toBe(0);
});

test('a plan that names no program, or one that is not there, does not start', async () => {
  await using repo = await tempRepo();
  const nameless = await (await started(repo, {})).ended;
  const missing = await (await started(repo, { command: ['no-such-agent-here'] })).ended;

  expect(nameless).toMatchObject({ code: 2, stdout: '' });
  expect(nameless.stderr).toContain('Task job does not say which program to run.');
  expect(missing).toMatchObject({ code: 3, stdout: '' });
  expect(missing.stderr).toContain('no-such-agent-here');
});

async function started(repo: TempRepo, task: object): Promise<Running> {
  const job = { id: 'job', agent: 'command', prompt: "Say $(touch oops) 'so'.", ...task };
  const plan = { landfast: 1, defaults: { retries: 0 }, tasks: [job] };
  await writeFile(join(repo.outside, 'plan.yaml'), JSON.stringify(plan));
  return start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
}

function failures(run: Running): readonly unknown[] {
  const events = run.entries.map(({ event }): Event => event);
  return events.flatMap((event) => (event.type === 'attempt.failed' ? [event.failure] : []));
}
