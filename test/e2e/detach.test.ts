/** Runs in the background: they outlive who started them, and can be looked at again. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isSystemError } from '../../src/base/errors.ts';
import { marked } from '../../src/process/process-tree.ts';
import { bareEnv, type Ended, landfast, Running, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');

/** A terminal needs `script` with the options that util-linux knows. */
const HAS_TERMINAL = process.platform === 'linux' && existsSync('/usr/bin/script');

/** Writes a file when there is a file `go` beside the repository; gives up after some minutes. */
const WAITING = [
  'n=0',
  'until test -e ../../../go; do n=$((n + 1)); test $n -lt 4000 || exit 9; sleep 0.05; done',
  'echo slow > slow.txt',
].join('\n');

interface Scene extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly cli: (...args: readonly string[]) => Promise<Ended>;
  readonly runs: () => Promise<readonly { readonly run: string; readonly outcome: string }[]>;
  /** Lets the waiting task go on. */
  readonly go: () => void;
}

async function scene(tasks: Readonly<Record<string, string>>): Promise<Scene> {
  const repo = await tempRepo();
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks }));
  const cli = (...args: readonly string[]) => landfast(args, { cwd: repo.dir });
  const go = () => writeFileSync(join(repo.outside, 'go'), '');
  return {
    repo,
    cli,
    runs: async () => JSON.parse((await cli('runs', '--json')).stdout),
    go,
    [Symbol.asyncDispose]: async () => {
      go();
      await cli('status', '--watch'); // Nothing may write into the folder that is removed now.
      await repo[Symbol.asyncDispose]();
    },
  };
}

test('the command returns when the run has begun, and attach ends as the run does', async () => {
  await using the = await scene({ slow: WAITING });
  const detached = await the.cli('run', '../plan.yaml', '--detach');
  const [live] = await the.runs();
  expect(live).toMatchObject({ outcome: 'live' });
  expect(detached).toEqual({
    code: 0,
    signal: null,
    stderr: expect.stringMatching(/^landfast: There is no gate.*\n.*\n$/),
    stdout: [
      `Run ${live?.run} continues in the background.`,
      `  watch it:  landfast attach ${live?.run}`,
      `  end it:    landfast cancel --run ${live?.run}`,
      '',
    ].join('\n'),
  });
  const attached = start(['attach'], { cwd: the.repo.dir });
  await attached.until(({ stdout }) => /slow .*started|started .*slow/i.test(stdout));
  the.go();
  const ended = await attached.ended;
  expect(ended).toMatchObject({ code: 0, signal: null });
  expect(ended.stdout).toMatch(/test: The task succeeded; main is at [0-9a-f]{7}\./);
  expect(await the.repo.git('log', '--format=%s', '--first-parent')).toBe('Land slow\nChange');
  expect((await the.cli('attach')).code).toBe(0);
});

test('a detached run lands although its starter’s whole process group is killed', async () => {
  await using the = await scene({ slow: WAITING });
  const mark = `${randomUUID()}/else.1`; // Others may run this test on the same machine.
  const shell = `'${process.execPath}' '${BIN}' run ../plan.yaml --detach; exec sleep 600`;
  const child = spawn('/bin/sh', ['-c', shell], {
    cwd: the.repo.dir,
    env: { ...bareEnv(the.repo.outside), LANDFAST_MARK: mark },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const starter = new Running(child);
  await starter.until(({ stdout }) => stdout.includes('continues in the background'));
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
    try {
      process.kill(-(child.pid ?? 0), name);
    } catch (error) {
      if (!isSystemError(error, 'ESRCH')) throw error;
      break; // All of it is gone.
    }
  }
  await starter.ended;
  // The kernel closes a dying process's pipes a moment before the process is gone.
  await vi.waitFor(() => expect(marked(mark)).toEqual([]), { timeout: 60_000 });
  expect(await the.runs()).toMatchObject([{ outcome: 'live' }]);
  the.go();
  expect((await the.cli('attach')).code).toBe(0);
  expect(existsSync(join(the.repo.dir, 'slow.txt'))).toBe(true);
});

test.skipIf(!HAS_TERMINAL)(
  'closing the terminal it was started from does not end the run',
  async () => {
    await using the = await scene({ slow: WAITING });
    const command = `'${process.execPath}' '${BIN}' run ../plan.yaml --detach --quiet`;
    // The terminal of `script` is hung up as soon as its command has ended.
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: the.repo.dir,
      env: { ...bareEnv(the.repo.outside), TERM: 'xterm', SHELL: '/bin/sh' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = await new Running(terminal).ended;
    const [live] = await the.runs();
    expect(ended.stdout.trim()).toBe(live?.run);
    expect(live).toMatchObject({ outcome: 'live' });
    the.go();
    expect((await the.cli('attach')).code).toBe(0);
  },
);

test.skipIf(!HAS_TERMINAL)('attach on a terminal shows the live view and the summary', async () => {
  await using the = await scene({ slow: WAITING });
  await the.cli('run', '../plan.yaml', '--detach');
  const command = `stty rows 24 cols 80; '${process.execPath}' '${BIN}' attach`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: the.repo.dir,
    env: { ...bareEnv(the.repo.outside), TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const terminal = new Running(child);
  await terminal.until(({ stdout }) => stdout.includes('1 running'));
  the.go();
  const ended = await terminal.ended;
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('✓ slow');
  expect(ended.stdout).toContain('The task succeeded');
});

test('Ctrl-C while attached leaves the run alone and says so', async () => {
  await using the = await scene({ slow: WAITING });
  await the.cli('run', '../plan.yaml', '--detach');
  const attached = start(['attach'], { cwd: the.repo.dir });
  await attached.until(({ stdout }) => stdout.includes('slow'));
  attached.child.kill('SIGINT');
  const ended = await attached.ended;
  expect(ended.code).toBe(130);
  expect(ended.stderr).toContain('keeps running without you');
  expect(await the.runs()).toMatchObject([{ outcome: 'live' }]);
});

test('attach ends with the exit code of a run that was cancelled, or ended by SIGTERM', async () => {
  await using the = await scene({ slow: WAITING });
  await the.cli('run', '../plan.yaml', '--detach');
  const first = start(['attach'], { cwd: the.repo.dir });
  await the.cli('cancel');
  const cancelled = await first.ended;
  expect(cancelled.code).toBe(1);
  expect(cancelled.stdout).toContain('The run was cancelled');
  await the.cli('resume', '--detach');
  const second = start(['attach'], { cwd: the.repo.dir });
  process.kill(await enginePid(the.repo), 'SIGTERM');
  expect((await second.ended).code).toBe(143);
});

/** The process that drives the run, as a second engine is told. */
async function enginePid(repo: TempRepo): Promise<number> {
  const { stderr } = await landfast(['resume'], { cwd: repo.dir });
  return Number(/process (\d+)/.exec(stderr)?.[1]);
}

test('a run that has failed continues in the background', async () => {
  await using the = await scene({ bad: 'test -e ../../../go && echo 1 > good.txt' });
  expect((await the.cli('run', '../plan.yaml')).code).toBe(1);
  the.go();
  expect((await the.cli('resume', '--detach')).code).toBe(0);
  expect((await the.cli('attach')).code).toBe(0);
  expect(existsSync(join(the.repo.dir, 'good.txt'))).toBe(true);
});

test('a refusal by the engine is shown by the command, with its exit code', async () => {
  await using the = await scene({ slow: WAITING });
  await the.cli('run', '../plan.yaml', '--detach');
  const refused = await the.cli('resume', '--detach');
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toMatch(/^landfast: Run \S+ is already driven by process \d+\.\n/);
});

const REFUSED: readonly {
  readonly what: string;
  readonly plan: string;
  readonly args?: readonly string[];
  readonly code: number;
  readonly says: RegExp;
}[] = [
  { what: 'a plan with errors', plan: 'landfast: 1\ntask: []\n', code: 2, says: /unknown key/ },
  {
    what: 'an agent that is missing',
    plan: 'landfast: 1\ntasks: [{ id: a, agent: codex, prompt: x }]\n',
    code: 3,
    says: /codex/,
  },
  {
    what: 'events, which would be lost',
    plan: 'landfast: 1\ntasks: [{ id: a, agent: shell, prompt: x }]\n',
    args: ['--events'],
    code: 2,
    says: /--events has no effect/,
  },
];

/** Where a program is; the machine may have agents and bubblewrap beside it. */
const pathOf = (name: string): string =>
  (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? name;

test.each(REFUSED)('a detached run is refused for $what', async ({ plan, args, code, says }) => {
  await using repo = await tempRepo();
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  mkdirSync(join(repo.outside, 'bin'));
  for (const name of ['git', 'sh']) symlinkSync(pathOf(name), join(repo.outside, 'bin', name));
  const env = { PATH: join(repo.outside, 'bin') };
  const all = ['run', '../plan.yaml', '--detach', ...(args ?? [])];
  const refused = await landfast(all, { cwd: repo.dir, env });
  expect(refused).toMatchObject({ code, stdout: '' });
  expect(refused.stderr).toMatch(says);
  expect((await landfast(['runs', '--json'], { cwd: repo.dir })).stdout).toBe('[]\n');
  const left = join(repo.commonDir, 'landfast', 'runs');
  expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
});

test.each([
  { how: 'with words', does: "console.error('no room'); process.exit(3)", says: /^no room$/m },
  {
    how: 'without a word',
    does: "process.kill(process.pid, 'SIGKILL')",
    says: /^landfast: The engine of run \S+ was ended by SIGKILL before the run began\.$/m,
  },
])('an engine that dies $how before the run started is reported', async ({ does, says }) => {
  await using repo = await tempRepo();
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks: { a: 'true' } }));
  const trap = join(repo.outside, 'trap.cjs');
  writeFileSync(trap, `if (process.argv[2] === 'engine') { ${does} }`);
  const env = { NODE_OPTIONS: `--require=${trap}` };
  const refused = await landfast(['run', '../plan.yaml', '--detach'], { cwd: repo.dir, env });
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toMatch(says);
  expect(readdirSync(join(repo.commonDir, 'landfast', 'runs'))).toEqual([]);
});

test('a failed task is tried again in the background, too', async () => {
  const broken = `test -e ../../../mended || exit 1\n${WAITING}`;
  await using the = await scene({ broken, other: 'exit 1' });
  const failed = await the.cli('run', '../plan.yaml', '--quiet');
  expect(failed.code).toBe(1);
  writeFileSync(join(the.repo.outside, 'mended'), '');
  const refused = await the.cli('retry', 'broken', '--detach', '--json');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  const retried = await the.cli('retry', 'broken', '--detach', '--report', '../r.json');
  expect(retried).toMatchObject({ code: 0, stderr: '' });
  expect(retried.stdout).toMatch(/^Run \S+ continues in the background\.$/m);
  expect(await the.runs()).toMatchObject([{ outcome: 'live' }]);
  const late = await the.cli('retry', 'other', '--detach', '--report', '../r.json');
  expect(late).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--report cannot be changed now'),
  });
  the.go();
  expect((await the.cli('attach')).code).toBe(1); // The other one was not asked for.
  expect(existsSync(join(the.repo.dir, 'slow.txt'))).toBe(true);
  expect(JSON.parse(readFileSync(join(the.repo.outside, 'r.json'), 'utf8'))).toMatchObject({
    tasks: [{ id: 'broken', state: 'landed' }, { id: 'other' }],
  });
});

test('outside of a repository it is refused with exit 3', async () => {
  await using repo = await tempRepo();
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks: { a: 'true' } }));
  const refused = await landfast(['run', 'plan.yaml', '--detach'], { cwd: repo.outside });
  expect(refused).toMatchObject({ code: 3, stdout: '' });
});

test('the output of the engine is in a private file of the run, without secrets', async () => {
  await using the = await scene({ quick: 'echo 1 > quick.txt' });
  const detached = await the.cli('run', '../plan.yaml', '--detach', '--quiet');
  const run = detached.stdout.trim();
  expect((await the.cli('attach', run)).code).toBe(0);
  const folder = join(the.repo.commonDir, 'landfast', 'runs', run);
  const log = join(folder, 'engine.log');
  expect(statSync(log).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readFileSync(log, 'utf8')).toBe('');
});
