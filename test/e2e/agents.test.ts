/** `landfast agents`, `landfast doctor`, and plans that ask agents for what they cannot do. */

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fenceSupport } from '../../src/process/fence.ts';
import { marked } from '../../src/process/process-tree.ts';
import { bareEnv, landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { withClaude } from '../support/with-claude.ts';

const LOGGED_OUT =
  'case "$1" in --version) echo "9.8.7 (Claude Code)";; *) echo \'{"loggedIn": false}\';; esac';

test('agents lists what is installed, with version and login, and how to get the rest', async () => {
  await using repo = await tempRepo();
  const env = { ...bareEnv(repo.outside), ...withClaude(repo, LOGGED_OUT) };
  const { code, stdout } = await landfast(['agents', '--json'], { cwd: repo.dir, env });
  expect(code).toBe(0);
  const rows = JSON.parse(stdout) as { name: string; installed: boolean; install: string }[];
  expect(rows.find(({ name }) => name === 'claude')).toMatchObject({
    installed: true,
    version: '9.8.7',
    login: 'out',
  });
  const codex = rows.find(({ name }) => name === 'codex');
  expect(codex).toMatchObject({
    installed: false,
    install: expect.stringContaining('npm install'),
  });
  const text = (await landfast(['agents'], { cwd: repo.dir, env })).stdout;
  expect(text).toMatch(/claude +9\.8\.7 at .*NOT logged in/);
  expect(text).toMatch(/codex +not installed; to install it: npm install/);
});

test('doctor says what is ready, and exits 1 when something that every run needs is missing', async () => {
  await using repo = await tempRepo();
  const env = { ...bareEnv(repo.outside), ...withClaude(repo, LOGGED_OUT) };
  const good = await landfast(['doctor'], { cwd: repo.dir, env });
  expect(good).toMatchObject({ code: 0 });
  expect(good.stdout).toMatch(/✓ git +git version/);
  expect(good.stdout).toMatch(/✓ repository .*on main/);
  expect(good.stdout).toMatch(/· claude +9\.8\.7, not logged in/);
  expect(good.stdout).toMatch(/. sandbox /);
  await repo.git('config', '--unset', 'user.name');
  await repo.git('config', '--unset', 'user.email');
  await repo.git('config', 'user.useConfigOnly', 'true');
  const bad = await landfast(['doctor', '--json'], { cwd: repo.dir, env });
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout)).toContainEqual(
    expect.objectContaining({ what: 'identity', state: 'missing' }),
  );
});

test('a plan that asks an agent for what it cannot do is refused before anything starts', async () => {
  await using repo = await tempRepo();
  const shell = await runPlan(repo, { tasks: { a: { prompt: 'x', model: 'big', max_turns: 3 } } });
  expect(shell).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'Task a needs what its agent shell cannot do: model, max_turns',
    ),
  });
  const command = await runPlan(repo, { tasks: { a: { agent: 'command', prompt: 'x' } } });
  expect(command).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('which program to run'),
  });
  expect([...shell.facts, ...command.facts]).toEqual([]);
});

test('any program can be an agent: the prompt on standard input, its text as the result', async () => {
  await using repo = await tempRepo();
  const program = join(repo.outside, 'my agent');
  writeFileSync(program, '#!/bin/sh\ngrep -c "Write hello" > got.txt\necho "I did it, $1"\n');
  chmodSync(program, 0o755);
  const run = await runPlan(repo, {
    tasks: { a: { agent: 'command', command: [program, '--fast'], prompt: 'Write hello' } },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.finished')[0]).toMatchObject({ text: 'I did it, --fast' });
  expect(await repo.git('show', 'main:got.txt')).toBe('1');
});

test('an agent that changes the user’s own checkout is reported', async () => {
  await using repo = await tempRepo();
  const program = join(repo.outside, 'stray');
  writeFileSync(program, `#!/bin/sh\necho 1 > ok.txt\necho oops > "${repo.dir}/stray.txt"\n`);
  chmodSync(program, 0o755);
  const report = join(repo.outside, 'r.md');
  const run = await runPlan(
    repo,
    { tasks: { a: { agent: 'command', command: [program], prompt: 'x' } } },
    { args: ['--report', report] },
  );
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.strayed')).toEqual([
    { type: 'attempt.strayed', task: 'a', attempt: 1, files: ['stray.txt'] },
  ]);
});

const hasFence = (await fenceSupport(AbortSignal.timeout(20_000))).kind !== 'missing';

/** A run that requires a sandbox, with a task that tries to write to the user's checkout. */
function runSandboxed(repo: TempRepo) {
  const script = `echo 1 > a.txt; echo 2 > "${repo.dir}/stray.txt" || echo fenced > b.txt`;
  return runPlan(repo, { tasks: { a: script }, more: { sandbox: 'require' } });
}

test.runIf(hasFence)('sandbox: require runs inside a fence', async () => {
  await using repo = await tempRepo();
  expect(await runSandboxed(repo)).toMatchObject({ code: 0 });
  expect(await repo.git('ls-files')).toBe('README.md\na.txt\nb.txt');
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test.skipIf(hasFence)('sandbox: require refuses to start where there is no fence', async () => {
  await using repo = await tempRepo();
  const run = await runSandboxed(repo);
  expect(run).toMatchObject({ code: 3, facts: [] });
  expect(run.stderr).toContain('The plan requires a sandbox, but there is none');
});

/** Speaks as much of the stream as is needed, and notes how it was called. */
const STAND_IN = `echo "$@" > args-$LANDFAST_TASK.txt
id=none
while [ $# -gt 0 ]; do [ "$1" = --session-id ] && id=$2; shift; done
echo '{"type":"system","subtype":"init","session_id":"'$id'","cwd":"/"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"'$id'"}'`;

test('a task can begin with the session of one that it needs', async () => {
  await using repo = await tempRepo();
  const env = withClaude(repo, STAND_IN);
  const plan = {
    tasks: {
      a: { agent: 'claude', prompt: 'learn' },
      b: { agent: 'claude', prompt: 'use it', needs: ['a'], fork: 'a' },
    },
  };
  const run = await runPlan(repo, plan, { env });
  expect(run).toMatchObject({ code: 0 });
  const [first, second] = run.of('attempt.session').map(({ session }) => session);
  expect(await repo.git('show', 'main:args-b.txt')).toContain(
    `--resume ${first} --fork-session --session-id ${second}`,
  );
  expect(first).not.toBe(second);
  const wrong = { tasks: { a: plan.tasks.a, b: { ...plan.tasks.b, needs: [] } } };
  expect(await runPlan(repo, wrong, { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cannot begin with the session of a'),
  });
});

test('a secret in the plan reaches the task and nothing that is written down', async () => {
  await using repo = await tempRepo();
  const secret = 'hunter2-hunter2';
  const script = 'echo "got $DB_PASSWORD" | tee got.txt; test "$LANDFAST_ATTEMPT" != 1';
  const plan = {
    retries: 0,
    tasks: { a: { prompt: script, env: { DB_PASSWORD: secret, PLAIN: 'x' }, allow_empty: true } },
  };
  const run = await runPlan(repo, plan);
  expect(run).toMatchObject({ code: 1 });
  expect(`${run.stdout}${run.stderr}`).not.toContain(secret);
  const grep = await repo
    .git('-C', repo.commonDir, 'grep', '--no-index', '-l', secret, 'landfast')
    .catch(() => '');
  expect(grep).toBe('');
  const kept = join(repo.outside, 'repo.worktrees', run.run, 'a', 'got.txt');
  expect(readFileSync(kept, 'utf8')).toBe(`got ${secret}\n`);
  const alone = await landfast(['resume'], { cwd: repo.dir });
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('value of DB_PASSWORD') });
  const file = ['run', join(repo.outside, 'plan.yaml'), '--resume'];
  expect(await landfast(file, { cwd: repo.dir })).toMatchObject({ code: 0 });
  expect(await repo.git('show', 'main:got.txt')).toBe(`got ${secret}`);
});

test('cancelling an agent of any kind of program leaves no process behind', async () => {
  await using repo = await tempRepo();
  const program = join(repo.outside, 'busy');
  writeFileSync(
    program,
    '#!/bin/sh\n(setsid nohup sleep 600 >/dev/null 2>&1 &)\necho on\nexec sleep 600\n',
  );
  chmodSync(program, 0o755);
  const tasks = { a: { agent: 'command', command: [program], prompt: 'x' } };
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks }));
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  await engine.untilFact('attempt.started');
  const { run } = JSON.parse((await landfast(['status', '--json'], { cwd: repo.dir })).stdout);
  while (marked(`${run}/`).length < 2) await landfast(['status'], { cwd: repo.dir });
  expect((await landfast(['cancel', 'a'], { cwd: repo.dir })).code).toBe(0);
  expect((await engine.ended).code).toBe(1);
  expect(marked(`${run}/`)).toEqual([]);
});
