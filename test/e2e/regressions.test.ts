/**
 * What once went wrong for users and must not again: readers and terminals that go away, and agents
 * that behave as real ones do at their worst. The agent is a stand-in for Claude Code: a script that
 * speaks its stream.
 */

import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { bareEnv, landfast, start } from '../support/landfast.ts';
import { nativePlan, type PlanParts } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { CLAUDE } from '../support/stand-ins.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const exec = promisify(execFile);
const BIN = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');

/** A program that is called as Claude Code is (support/stand-ins.ts). */
function standIn(repo: TempRepo, script: string): readonly string[] {
  const file = join(repo.outside, 'claude');
  writeFileSync(file, `${STAND_IN}\n${script}\n`);
  chmodSync(file, 0o755);
  return ['--claude-exe', file];
}

const STAND_IN = `#!/bin/sh\n${CLAUDE}`;

const GOOD = `result '"is_error":false'`;

function write(repo: TempRepo, parts: PlanParts): string {
  const file = join(repo.outside, 'plan.yaml');
  writeFileSync(file, nativePlan(parts));
  return file;
}

const newestRun = async (repo: TempRepo): Promise<string> => {
  const { stdout } = await landfast(['runs', '--json'], { cwd: repo.dir });
  return (JSON.parse(stdout) as { run: string }[])[0]?.run ?? '';
};

test('a reader that goes away changes neither the exit code nor the report nor the tidying up', async () => {
  await using repo = await tempRepo();
  const plan = write(repo, {
    gates: [{ name: 'ok', run: 'true' }],
    tasks: { bad: 'sleep 0.2; exit 1', good: 'sleep 0.3; echo 1 > good.txt' },
  });
  const report = join(repo.outside, 'r.json');
  const code = join(repo.outside, 'code');
  const run = `"${process.execPath}" "${BIN}" run --report "${report}" "${plan}"`;
  const piped = `(${run} 2>&1; echo $? > "${code}") | head -1`;
  await exec('sh', ['-c', piped], { cwd: repo.dir, env: bareEnv(repo.outside) });
  expect(readFileSync(code, 'utf8')).toBe('1\n');
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ total: 2, succeeded: 1 });
  expect(await repo.git('ls-files')).toBe('README.md\ngood.txt');
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});

test('a report that cannot be written in the end is an error message; the program still tidies up', async () => {
  await using repo = await tempRepo();
  const report = join(repo.outside, 'r.json');
  mkdirSync(report); // A folder of that name: writing fails only in the end.
  const plan = write(repo, { gates: [{ name: 'ok', run: 'true' }], tasks: { one: 'echo 1 > a' } });
  const ended = await landfast(['run', plan, '--report', report], { cwd: repo.dir });
  expect(ended).toMatchObject({ signal: null, stderr: expect.stringContaining('report') });
  expect(ended.code).not.toBe(0);
  expect(await repo.git('ls-files')).toBe('README.md\na');
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});

const WAITS = 'echo 1 > a.txt; touch ../../../up; while test ! -e ../../../go; do sleep 0.05; done';

/** Runs a command in a terminal of its own, which is closed once the file exists. */
const CLOSE_TERMINAL = `
import os, pty, sys, time
until, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
os.set_blocking(terminal, False)
while not os.path.exists(until):
    try: os.read(terminal, 65536)
    except BlockingIOError: time.sleep(0.02)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

const hasPython =
  spawnSync('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode']).status === 0;

async function expectResumable(repo: TempRepo): Promise<void> {
  const run = await newestRun(repo);
  expect(marked(`${run}/`)).toEqual([]);
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await landfast(['resume'], { cwd: repo.dir })).toMatchObject({ code: 0 });
  expect(await repo.git('ls-files')).toBe('README.md\na.txt');
  expect(marked(`${run}/`)).toEqual([]);
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
}

test.runIf(hasPython)(
  'a terminal that is closed ends the agents, and the run goes on later',
  async () => {
    await using repo = await tempRepo();
    const plan = write(repo, { tasks: { one: WAITS } });
    const up = join(repo.outside, 'up');
    const { stdout } = await exec(
      'python3',
      ['-c', CLOSE_TERMINAL, up, process.execPath, BIN, 'run', plan],
      { cwd: repo.dir, env: { ...bareEnv(repo.outside), TERM: 'xterm' } },
    );
    expect(stdout.trim()).toBe('129');
    await expectResumable(repo);
  },
);

test('a hang-up without a terminal does the same', async () => {
  await using repo = await tempRepo();
  const engine = start(['run', write(repo, { tasks: { one: WAITS } }), '--events'], {
    cwd: repo.dir,
  });
  await engine.untilFact('attempt.started');
  engine.child.kill('SIGHUP');
  expect((await engine.ended).code).toBe(129);
  await expectResumable(repo);
});

test('an agent that stops by itself in the middle of a tool has used its only attempt', async () => {
  await using repo = await tempRepo();
  const aborted = `hello; echo 1 > a.txt; result '"is_error":true,"terminal_reason":"aborted_tools"'`;
  const run = await runPlan(
    repo,
    { tasks: { one: { agent: 'claude', retries: 0, prompt: 'Do it.' } } },
    { args: standIn(repo, `echo x >> ../../../calls; ${aborted}; exit 1`) },
  );
  expect(run).toMatchObject({ code: 1 });
  expect(run.of('attempt.started')).toHaveLength(1);
  expect(readFileSync(join(repo.outside, 'calls'), 'utf8')).toBe('x\n');
  expect(run.failure('one')).toMatchObject({ kind: 'transient' });
});

test.each([
  ['commits', 'git add -A; git commit -qm resolved'],
  ['leaves', 'true'],
])('conflict markers that an agent %s as its answer to a conflict do not land', async (_, end) => {
  await using repo = await tempRepo({ files: { 'same.txt': 'nobody\n' } });
  const script = `hello
    if test -z "$resumed"; then
      echo second > same.txt
      while test ! -e ../../../go; do sleep 0.05; done
    else
      grep -q '<<<<<<<' same.txt || exit 9
      ${end}
    fi
    ${GOOD}`;
  const plan = write(repo, {
    land: { on_conflict: 'agent' },
    tasks: { first: 'echo first > same.txt', second: { agent: 'claude', prompt: 'Do it.' } },
  });
  const engine = start(['run', plan, '--events', ...standIn(repo, script)], { cwd: repo.dir });
  await engine.untilFact('attempt.started', 'second');
  await engine.untilFact('merge.landed', 'first');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(1);
  const failure = engine.entries.flatMap(({ event }) =>
    event.type === 'task.failed' ? [event.failure] : [],
  );
  expect(failure).toMatchObject([
    { kind: 'checks-failed', message: 'Conflict markers are left in same.txt.' },
  ]);
  expect(await repo.git('show', 'main:same.txt')).toBe('first');
  const kept = join(repo.outside, 'repo.worktrees', await newestRun(repo), 'second', 'same.txt');
  expect(readFileSync(kept, 'utf8')).toContain('<<<<<<<');
});

test('a session that the agent does not know any more is replaced, and its work is gone on with', async () => {
  await using repo = await tempRepo();
  const script = `if test -n "$resumed"; then
      echo "No conversation found with session ID: $resumed" >&2
      exit 1
    fi
    hello
    if test ! -e first.txt; then echo 1 > first.txt; exit 1; fi
    echo 2 > second.txt
    ${GOOD}`;
  const run = await runPlan(
    repo,
    { tasks: { one: { agent: 'claude', retries: 2, prompt: 'Do it.' } } },
    { args: standIn(repo, script) },
  );
  expect(run).toMatchObject({ code: 0 });
  const [session, other] = run.of('attempt.session').map((fact) => fact.session);
  expect(run.of('attempt.started').map((fact) => fact.start)).toEqual([
    { kind: 'fresh' },
    { kind: 'continue', session },
    { kind: 'continue', session: null },
  ]);
  expect(other).not.toBe(session);
  const failures = run.of('attempt.failed').map(({ failure }) => failure.kind);
  expect(failures).toEqual(['transient', 'session-lost']);
  expect(await repo.git('ls-files')).toBe('README.md\nfirst.txt\nsecond.txt');
});

test('the only agent may spend the whole budget; scripts run although the money is gone', async () => {
  await using repo = await tempRepo();
  const script = `echo "$argv" > ../../../argv; hello; echo 1 > a.txt
    result '"is_error":false,"total_cost_usd":20'`;
  const run = await runPlan(
    repo,
    {
      more: { limits: { workers: 4, budget_usd: 20 } },
      tasks: {
        agent: { agent: 'claude', prompt: 'Do it.' },
        script: { needs: ['agent'], prompt: 'echo 1 > b.txt' },
        late: { agent: 'claude', needs: ['agent'], prompt: 'Do more.' },
      },
    },
    { args: standIn(repo, script) },
  );
  expect(run).toMatchObject({ code: 1 });
  expect(readFileSync(join(repo.outside, 'argv'), 'utf8')).toMatch(/ --max-budget-usd 20(?: |$)/m);
  expect(run.of('attempt.started', 'agent')[0]).toMatchObject({ budgetUsd: 20 });
  expect(run.of('attempt.started', 'script')[0]).not.toHaveProperty('budgetUsd');
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['agent', 'script']);
  expect(run.of('attempt.started', 'late')).toEqual([]);
  expect(run.failure('late')).toMatchObject({ kind: 'budget' });
  expect(readdirSync(repo.dir)).toEqual(expect.arrayContaining(['a.txt', 'b.txt']));
});
