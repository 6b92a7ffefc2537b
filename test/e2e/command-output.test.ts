/** What gates, checks and set-up print: all of it in files, and what matters wherever it is told. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gateLogFile } from '../../src/journal/gate-log.ts';
import { attemptFiles, attemptsDir } from '../../src/journal/transcript.ts';
import { type PlanRun, runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const text = (file: string): string => readFileSync(file, 'utf8').replace(/, [\d.]+ s\)/g, ')');

const stateDir = (repo: TempRepo): string => join(repo.commonDir, 'landfast');

const filesOf = (repo: TempRepo, { run }: PlanRun) =>
  attemptFiles(attemptsDir(stateDir(repo), run), 'one', 1);

/** Green on the base. */
const FAIL =
  'test -e one.txt || exit 0; echo begins; echo "token $API_TOKEN"; ' +
  'echo "AssertionError: 1 == 2"; exit 3';

test('all that a gate prints is kept, without secrets, and its failure has command and code', async () => {
  await using repo = await tempRepo();
  const plan = {
    gates: [{ name: 'tests', run: FAIL, env: { API_TOKEN: 'hunter2hunter2' } }],
    land: { on_gate_failure: 'fail' },
    tasks: { one: 'echo 1 > one.txt' },
  };
  const run = await runPlan(repo, plan);
  expect(run).toMatchObject({ code: 1 });
  const [red] = run.of('gate.finished', 'one');
  const failed = { command: FAIL, exitCode: 3, output: expect.stringContaining('1 == 2') };
  expect(red).toMatchObject({ ok: false, ...failed });
  expect(run.failure('one')).toMatchObject({ kind: 'gate-failed', gate: 'tests', ...failed });
  const log = text(gateLogFile(stateDir(repo), run.run, { tree: red!.tree, gate: 'tests' }));
  const look = [`$ ${FAIL}`, 'begins', 'token [MASKED]', 'AssertionError: 1 == 2', '(exit code 3)'];
  expect(log.split('\n').slice(0, 5)).toEqual(look);
});

test('so is what set-up and checks print, and the prompt', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    more: { workspace: { setup: ['echo added 3 packages'] } },
    tasks: { one: { prompt: 'echo 1 > one.txt', checks: ['echo looks; exit 4'] } },
  });
  const files = filesOf(repo, run);
  expect(text(files.setup)).toBe('$ echo added 3 packages\nadded 3 packages\n(exit code 0)\n');
  expect(text(files.checks)).toBe('$ echo looks; exit 4\nlooks\n(exit code 4)\n');
  expect(text(files.prompt)).toBe('echo 1 > one.txt\n');
  expect(run.failure('one')).toMatchObject({ kind: 'checks-failed', exitCode: 4 });
});

test('a failed set-up says which command, its code and what it printed', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    more: { workspace: { setup: ['true', 'echo no network >&2; exit 7'] } },
    tasks: { one: 'echo 1 > one.txt' },
  });
  expect(run.failure('one')).toEqual({
    kind: 'workspace-failed',
    message: "The workspace's set-up command failed: echo no network >&2; exit 7",
    command: 'echo no network >&2; exit 7',
    exitCode: 7,
    output: 'no network\n(exit code 7)',
  });
});

test('with --no-log nothing of it is kept but what failed', async () => {
  await using repo = await tempRepo();
  const tasks = { one: { prompt: 'echo 1 > one.txt', checks: ['exit 4'] } };
  const plan = { tasks };
  const run = await runPlan(repo, plan, { args: ['--no-log'] });
  expect(() => readFileSync(filesOf(repo, run).checks)).toThrow('ENOENT');
  expect(run.failure('one')).toMatchObject({ check: 'exit 4', output: '(exit code 4)' });
});
