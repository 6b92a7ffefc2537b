/** A gate that does not work by itself is told as that: no work is blamed, no attempt used up. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { hasScript, onTerminal } from '../support/terminal.ts';

const TASKS = { one: 'echo 1 > one', two: 'echo 2 > two' };

const gates = (run: Awaited<ReturnType<typeof runPlan>>) =>
  run.of('gate.finished').map(({ gate, on, ok, spared }) => {
    return `${gate} ${on ?? 'candidate'} ${spared ?? (ok ? 'green' : 'red')}`;
  });

/** It ended without a word against the work, and another engine lands all of it. */
async function expectKept(repo: TempRepo, run: Awaited<ReturnType<typeof runPlan>>) {
  expect(run).toMatchObject({ code: 1 });
  expect(run.of('merge.rejected')).toEqual([]);
  expect(run.of('task.failed')).toEqual([]);
  expect(run.of('run.finished')).toMatchObject([{ outcome: 'failed' }]);
  const branches = await repo.git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads');
  expect(branches.split('\n')).toContain(`landfast/${run.run}.one`);
}

test('a command that is not there is the fault of the gate, and work lands once it is', async () => {
  await using repo = await tempRepo();
  const tool = join(repo.outside, 'tool');
  const run = await runPlan(repo, { gates: [{ name: 'tests', run: tool }], tasks: TASKS });
  await expectKept(repo, run);
  expect(run.of('gate.broken')[0]).toMatchObject({
    ...{ gate: 'tests', why: 'not-run', exitCode: 127, attended: false },
  });
  const said = 'Gate tests cannot run, not even on the base: the gate is broken, not the work.';
  expect(run.stderr).toContain(said);
  expect(run.stderr).toContain(`$ ${tool}  (exit code 127)`);
  const cli = (...args: string[]) => landfast(args, { cwd: repo.dir, env: { HOME: repo.outside } });
  expect((await cli('status')).stdout).toContain(said);
  const attempts = run.of('attempt.started').length;
  writeFileSync(tool, '#!/bin/sh\n', { mode: 0o755 });
  const resumed = await cli('resume', run.run, '--events');
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stdout.match(/"attempt.started"/g) ?? []).toHaveLength(2 - attempts);
  expect(readFileSync(join(repo.dir, 'two'), 'utf8')).toBe('2\n');
});

test('a gate that is red on the base is not run again and again on work', async () => {
  await using repo = await tempRepo({ files: { failing: 'x\n' } });
  const run = await runPlan(repo, {
    more: { limits: { workers: 1, gates: 1 } },
    gates: [{ name: 'tests', run: 'echo boom; test ! -e failing' }],
    tasks: TASKS,
  });
  await expectKept(repo, run);
  expect(gates(run)).toEqual(['tests candidate red', 'tests base red']);
  expect(run.of('gate.broken')).toMatchObject([{ why: 'red', exitCode: 1 }]);
  expect(run.stderr).toContain('Gate tests is red on the base too');
  expect(run.stderr).toContain('| boom');
});

test('work that breaks a gate which is green on the base is to blame', async () => {
  await using repo = await tempRepo({ files: { 'check.sh': 'true\n' } });
  const run = await runPlan(repo, {
    land: { on_gate_failure: 'fail' },
    gates: [{ name: 'tests', run: 'bash ./check.sh' }],
    tasks: { one: 'git rm -q check.sh' },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('one')).toMatchObject({ kind: 'gate-failed', exitCode: 127 });
  expect(gates(run)).toEqual(['tests candidate red', 'tests base green', 'tests candidate red']);
  const again = await runPlan(repo, {
    land: { on_gate_failure: 'fail' },
    gates: [{ name: 'tests', run: 'bash ./check.sh' }],
    tasks: { one: 'git rm -q check.sh' },
  });
  expect(gates(again)[1]).toBe('tests base memory');
});

test('a plan that mends a red base says so, and lands what turns it green', async () => {
  await using repo = await tempRepo({ files: { failing: 'x\n' } });
  const run = await runPlan(repo, {
    land: { on_gate_failure: 'fail' },
    gates: [{ name: 'tests', run: 'test ! -e failing', base: 'red' }],
    tasks: { one: 'echo 1 > one', mend: { needs: [], prompt: 'git rm -q failing' } },
    more: { limits: { workers: 1, gates: 1 } },
  });
  expect(run.of('gate.broken')).toEqual([]);
  expect(run.failure('one')).toMatchObject({ kind: 'gate-failed' });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['mend']);
});

test('work that is only delivered is not blamed for a broken gate either', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    land: { strategy: 'none' },
    gates: [{ name: 'tests', run: 'no-such-program' }],
    tasks: { one: 'echo 1 > one' },
  });
  await expectKept(repo, run);
  expect(run.of('gate.broken')).toHaveLength(1);
});

test('a set-up that fails for gates alone, on the base as well, is no fault of the work', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    more: { workspace: { setup: ['case $PWD in *.gates/*) exit 1;; esac'] } },
    gates: [{ name: 'tests', run: 'true' }],
    tasks: { one: 'echo 1 > one' },
  });
  await expectKept(repo, run);
  expect(run.of('gate.broken')).toMatchObject([{ gate: 'setup', why: 'red' }]);
});

test.runIf(hasScript)('at a terminal the run pauses, and goes on when it is told to', async () => {
  await using repo = await tempRepo();
  const tool = join(repo.outside, 'tool');
  const plan = nativePlan({ gates: [{ name: 'tests', run: tool }], tasks: TASKS });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  const { shown } = onTerminal(repo, ['run', '../plan.yaml', '--no-dashboard']);
  await shown.until(({ stdout }) => /the gate is broken, not the work/.test(stdout));
  await shown.until(({ stdout }) => /paused: no new attempts/.test(stdout));
  writeFileSync(tool, '#!/bin/sh\n', { mode: 0o755 });
  const resumed = await landfast(['resume'], { cwd: repo.dir, env: { HOME: repo.outside } });
  expect(resumed).toMatchObject({ code: 0 });
  await shown.until(({ stdout }) => /code=0/.test(stdout));
});
