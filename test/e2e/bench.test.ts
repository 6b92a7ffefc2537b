/** The benchmark, made small: all entrants do the job, and who does not do it is caught. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { CASES, type Case, GUARD_CASES, inWays } from '../../bench/cases.ts';
import { installProgram, landfast, script } from '../../bench/contestants.ts';
import { copyTemplate, type Ground, git, makeTemplate, openGround } from '../../bench/ground.ts';
import { withSlack } from '../../bench/guard.ts';
import { inspect } from '../../bench/inspect.ts';
import { chain, criticalPath, diamonds, independent, STAND_IN, WAYS } from '../../bench/jobs.ts';
import { cpuOfChildren, timeCommand, watchMemory } from '../../bench/measure.ts';
import { findOrchestra } from '../../bench/orchestra.ts';
import { type CaseResult, checksOf, median } from '../../bench/results.ts';
import { tableText } from '../../bench/table.ts';
import { tempDir } from '../support/temp-dir.ts';

const RUN = join(import.meta.dirname, '..', '..', 'bench', 'run.ts');
const TIMES = { wallMs: expect.any(Number), cpuMs: expect.any(Number) };
const MEMORY = { mainKb: expect.any(Number), treeKb: expect.any(Number) };
const execute = promisify(execFile);

test('three tasks are done by all, also by parallel-orchestra, and written down', async ({
  signal,
}) => {
  await using dir = await tempDir();
  await dir.write({ 'bin/python3': ORCHESTRA, 'po/src/parallel_orchestra/__main__.py': '' });
  await chmod(join(dir.path, 'bin', 'python3'), 0o755);
  const out = join(dir.path, 'results', 'three.json');
  const sizes = ['--tasks', '3', '--files', '5', '--rounds', '1'];
  const PATH = `${join(dir.path, 'bin')}:${process.env.PATH}`;
  const env = { ...process.env, PATH, PO_SRC: join(dir.path, 'po') };

  const args = [RUN, ...sizes, '--dir', dir.path, '--out', out];
  const { stdout } = await execute(process.execPath, args, { env, signal });

  const number = ' +\\d+\\.\\d\\d';
  expect(stdout).toMatch(
    new RegExp(`^  landfast, plan, warm${number}${number} +\\d+ +\\d+ +\\d+$`, 'm'),
  );
  const { cases } = JSON.parse(await readFile(out, 'utf8')) as { cases: readonly CaseResult[] };
  const cost = { runs: [TIMES], memory: MEMORY, gitProcesses: expect.any(Number) };
  const costs = {
    script: cost,
    'parallel-orchestra': cost,
    'landfast, plan': cost,
    'landfast, manifest': cost,
    'landfast, shell': cost,
    'landfast, plan, warm': cost,
    'landfast, manifest, warm': cost,
    'landfast, shell, warm': cost,
  };
  const title = '5 files, 3 tasks, 8 at a time';
  expect(cases).toEqual([{ name: 'custom', title, costs, checks: [] }]);
});

test('a PO_SRC that holds no parallel-orchestra is an error', async ({ signal }) => {
  await using dir = await tempDir();
  await expect(findOrchestra(dir.path, signal)).rejects.toThrow(
    `PO_SRC: there is no parallel_orchestra in ${dir.path}`,
  );
});

/** As far as the command line goes: worktrees and branches of its own, one merge after the other. */
const ORCHESTRA = `#!/bin/bash
set -eu
[ "$1" = -c ] && { echo "$0"; exit; }
[ "$1 $2 $3 $5 $6 $7 \${*:9}" = "-m parallel_orchestra run --max-workers 8 --claude-exe --no-dashboard" ]
[ -d "$PYTHONPATH/parallel_orchestra" ]
ids=$(sed -n 's/^  - id: //p' "$4")
for id in $ids; do
  tree=.po-worktrees/$id-00000000
  git worktree add -q -b "parallel-orchestra/$id" "$tree" HEAD
  mkdir "$tree/.claude" && : >"$tree/.claude/CLAUDE.md"
  prompt=$(grep -A9 "id: $id$" "$4" | sed -n 's/^    prompt: "\\(.*\\)"$/\\1/p' | head -1)
  (cd "$tree" && "$8" --dangerously-skip-permissions --agent bench -p "$prompt")
  git -C "$tree" add -A && git -C "$tree" commit -qm "parallel-orchestra: task $id"
  git worktree remove --force "$tree"
done
for id in $ids; do
  git merge -q --no-ff -m "Merge parallel-orchestra task $id" "parallel-orchestra/$id"
  git branch -qd "parallel-orchestra/$id"
done
`;

test('a missed promise is an error that names it', () => {
  const cost = (wallMs: number, mainKb: number) => ({
    runs: [9 * wallMs, wallMs, wallMs].map((ms) => ({ wallMs: ms, cpuMs: 2 * ms })),
    memory: { mainKb, treeKb: 2 * mainKb },
    gitProcesses: 300,
  });
  const work = (tasks: number) => ({ files: 50, tasks: independent(tasks), workers: 8, sleepS: 0 });
  const named = (name: string, tasks: number) => ({ name, by: script, work: work(tasks) });
  const each: Case = {
    name: 'small-50',
    title: 'small',
    rounds: 3,
    entrants: [named('script', 50), named('landfast', 100)],
    targets: [
      { what: 'wall', of: 'landfast', over: 'script', most: 0.6 },
      { what: 'CPU', of: 'landfast', over: 'script', most: 0.4, perTask: true },
      { what: 'wall', of: 'landfast', over: null, most: 600 },
      { what: 'memory', of: 'landfast', over: null, most: 10_240 },
    ],
  };
  const costs = { script: cost(1_000, 4_096), landfast: cost(700, 20_480) };
  const { name, title } = each;
  const text = (of: Case) =>
    tableText({ name, title, costs, checks: checksOf(of, costs, median) }, median);
  expect(`\n${text(each)}\n`).toMatchInlineSnapshot(`
    "
    small-50: small
                                         wall s     CPU s   main MB   tree MB    git
      script                               1.00      2.00         4         8    300
      landfast                             0.70      1.40        20        40    300
      MISSED wall of landfast over script: 0.70, at most 0.60
      kept   CPU of landfast over script, for each task: 0.35, at most 0.40
      MISSED wall of landfast: 0.70 s, at most 0.60 s
      MISSED memory of landfast: 20 MB, at most 10 MB
    "
  `);
  expect(text(withSlack(each)).match(/MISSED.*/g)).toEqual([
    'MISSED memory of landfast: 20 MB, at most 15 MB',
  ]);
});

test.each([
  ['--rounds 0', '--rounds wants a whole number from 1, not 0'],
  ['tiny', 'there is no case tiny; there are small-50, small-200, mid-50, '],
  ['--case tiny', 'there is no case tiny; there are small-50, small-200, mid-50, '],
  ['--way codex', 'there is no way codex; there are plan, manifest, shell'],
  ['chain-200 --way plan', 'none of these cases has the way plan'],
])('%s is refused before anything runs', async (args, problem) => {
  const failed = execute(process.execPath, [RUN, ...args.split(' ')]);
  const stderr = expect.stringContaining(`bench: ${problem}`);
  await expect(failed).rejects.toMatchObject({ code: 2, stderr });
});

test('what is compared with the script is promised of every way, by the guard too', () => {
  const promised = ({ name, targets }: Case) => ({
    name,
    of: [...new Set(targets.filter(({ over }) => over === 'script').map(({ of }) => of))],
  });
  const cold = ['landfast, plan', 'landfast, manifest', 'landfast, shell'];
  const warm = cold.map((name) => `${name}, warm`);
  expect([...CASES, ...GUARD_CASES].map(promised).filter(({ of }) => of.length > 0)).toEqual([
    { name: 'small-50', of: cold },
    { name: 'small-200', of: cold },
    { name: 'mid-50', of: [...cold, ...warm] },
    { name: 'large-10', of: [...cold, ...warm] },
    { name: 'small-50', of: cold },
    { name: 'mid-32', of: [...cold, ...warm] },
  ]);
});

test('one way of a case can be measured alone, with what it is compared with', () => {
  const left = inWays(CASES, ['manifest']);
  expect(left.map(({ name }) => name)).toEqual([
    'small-50',
    'small-200',
    'mid-50',
    'large-10',
    'thousand',
  ]);
  const [small] = left;
  expect(small?.entrants.map(({ name }) => name)).toEqual(['script', 'landfast, manifest']);
  expect(new Set(small?.targets.map(({ of }) => of))).toEqual(new Set(['landfast, manifest']));
  expect(inWays(CASES, WAYS).map(({ name }) => name)).not.toContain('help');
});

test.each([
  ['on standard input', [], '# Task t\n\nWrite one to one.txt\n\n# Rules'],
  ['as an argument', ['Write one to one.txt'], ''],
])('the stand-in does what its prompt says, %s', async (_, prompt, stdin) => {
  await using dir = await tempDir();
  const args = ['--session-id', 'abc', '-p', ...prompt, '--verbose'];
  const running = execute(STAND_IN, args, { cwd: dir.path });
  running.child.stdin?.end(stdin);
  const { stdout } = await running;

  const lines = stdout.trim().split('\n');
  const said = lines.map((line) => JSON.parse(line) as { type: string; session_id: string });
  expect(said.map(({ type, session_id }) => `${type} ${session_id}`)).toEqual(
    ['system', 'assistant', 'user', 'assistant', 'result'].map((type) => `${type} abc`),
  );
  expect(await readFile(join(dir.path, 'one.txt'), 'utf8')).toBe('one\n');
});

test('a run that did not understand its stand-in agent is caught', async ({ signal }) => {
  await using dir = await tempDir();
  await using ground = await openGround(dir.path);
  await installProgram(ground);
  const job = await startedJob(ground, signal);
  const command = await landfast('shell').command(job, ground, signal);
  await timeCommand({ command, env: ground.env, dir: ground.dir }, signal);

  await inspect(ground, landfast('shell'), job, signal);
  await expect(inspect(ground, landfast('plan'), job, signal)).rejects.toThrow(
    'report is "succeeded for $0.00", not "succeeded for $0.03"',
  );
});

test('work that is missing, or left over, is caught', async ({ signal }) => {
  await using dir = await tempDir();
  await using ground = await openGround(dir.path);
  const job = await startedJob(ground, signal);
  const command = await script.command(job, ground, signal);
  await timeCommand({ command, env: ground.env, dir: ground.dir }, signal);

  const tree = await git(ground, job.repository, ['rev-parse', 'main^{tree}'], signal);
  await expect(inspect(ground, script, job, signal)).resolves.toBe(tree);

  const more = { ...job, tasks: independent(4) };
  await expect(inspect(ground, script, more, signal)).rejects.toThrow('merges is 3, not 4');

  await git(ground, job.repository, ['update-ref', 'refs/kept/left', 'main'], signal);
  await expect(inspect(ground, script, job, signal)).rejects.toThrow('refs is');
  await git(ground, job.repository, ['update-ref', '-d', 'refs/kept/left'], signal);

  const { env } = ground;
  await using left = await startWaiting(env);
  await expect(inspect(ground, script, job, signal)).rejects.toThrow(`["${left.pid}"]`);
});

/** A process that does nothing until it is ended. */
async function startWaiting(env: Ground['env']): Promise<AsyncDisposable & { pid: number }> {
  const child = spawn('cat', { env, stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

test('a row of diamonds is as long as its critical path', () => {
  const needs = (tasks: ReturnType<typeof chain>) =>
    tasks.map(({ needs: before }) => before.map((id) => Number(id.slice('task-'.length))));
  expect(needs(chain(3))).toEqual([[], [1], [2]]);
  expect(needs(diamonds(9))).toEqual([[], [1], [1], [2, 3], [4], [4], [5, 6], [7], [8]]);
  expect([chain(200), diamonds(200)].map((tasks) => criticalPath(tasks).length)).toEqual([
    200, 134,
  ]);
});

test('a command that fails has no cost', async ({ signal }) => {
  await using dir = await tempDir();
  await using ground = await openGround(dir.path);
  const order = { command: ['sh', '-c', 'echo why; exit 3'], env: ground.env, dir: ground.dir };
  await expect(timeCommand(order, signal)).rejects.toThrow(/ended with 3:\nwhy/);
});

test('processor time and memory of grandchildren count', async ({ signal }) => {
  await using dir = await tempDir();
  const busy = `
    const start = process.cpuUsage();
    while (process.cpuUsage(start).user < 300_000) for (let i = 0; i < 1e6; i += 1);`;
  const large = 'globalThis.kept = Buffer.alloc(200e6, 1); setTimeout(() => {}, 2_500);';
  const below = (code: string) => ({
    command: ['sh', '-c', '"$1" -e "$2"; true', 'sh', process.execPath, code],
    env: { PATH: process.env.PATH ?? '' },
    dir: dir.path,
  });

  const { cpuMs } = await timeCommand(below(busy), signal);
  const { mainKb, treeKb } = await watchMemory(below(large), signal);

  expect(cpuMs).toBeGreaterThan(290);
  expect(mainKb).toBeLessThan(50_000);
  expect(treeKb).toBeGreaterThan(200_000);
});

test('a command cannot look cheap by leaving its work to a process that outlives it', async ({
  signal,
}) => {
  await using dir = await tempDir();
  const busy = `
    const [start, parent] = [process.cpuUsage(), process.ppid];
    while (process.cpuUsage(start).user < 450_000) for (let i = 0; i < 1e6; i += 1);
    require('node:fs').writeFileSync('used', '');
    setInterval(() => process.ppid === parent || process.exit(), 10);`;
  const leave = '"$1" -e "$2" & until [ -e used ]; do sleep 0.1; done';
  const command = ['sh', '-c', leave, 'sh', process.execPath, busy];
  const order = { command, env: { PATH: process.env.PATH ?? '' }, dir: dir.path };
  await expect(watchMemory(order, signal)).rejects.toThrow(/used \d+ ms, of which it accounts for/);
});

test('times are read as bash and dash print them', () => {
  expect(cpuOfChildren('0m0.001s 0m0.002s\n1m2.500s 0m0.250s\n')).toBe(62_750);
  expect(cpuOfChildren('0m0.000000s 0m0.000000s\n0m0.010000s 0m0.020000s\n')).toBe(30);
  expect(() => cpuOfChildren('')).toThrow('strange times');
});

test('a median is the middle value, or lies between the two middle ones', () => {
  expect([[7], [9, 1], [3, 1, 2], [4, 1, 3, 2]].map(median)).toEqual([7, 5, 2, 2.5]);
});

async function startedJob(ground: Ground, signal: AbortSignal) {
  const repository = join(ground.dir, 'run', 'repository');
  const template = await makeTemplate(ground, 5, signal);
  await mkdir(join(ground.dir, 'run'));
  await copyTemplate(ground, template, repository, signal);
  const start = await git(ground, repository, ['rev-parse', 'main'], signal);
  return { repository, start, files: 5, tasks: independent(3), workers: 2, sleepS: 0 };
}
