/** The shell pool: what goes in, what comes back, and what is left. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isSystemError } from '../../src/base/errors.ts';
import { type Capture, TimeLimitError } from '../../src/process/capture.ts';
import { processList } from '../../src/process/process-list.ts';
import { scratchFolder } from '../../src/process/scratch.ts';
import { ShellPool } from '../../src/process/shell-pool.ts';
import { ownTemp } from '../support/own-temp.ts';
import type { TempDir } from '../support/temp-dir.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';

const { signal } = new AbortController();
const PATH = process.env.PATH;

let place: TempDir;

beforeEach(async () => {
  place = await ownTemp();
});

afterEach(async () => {
  await place[Symbol.asyncDispose]();
});

/** A pool that is closed when the test is over. */
function openShells(env: NodeJS.ProcessEnv = { PATH }): ShellPool & AsyncDisposable {
  return Object.assign(new ShellPool(env, scratchFolder('r')), {
    async [Symbol.asyncDispose](this: ShellPool) {
      await this.close();
    },
  });
}

function program(file: string, args: readonly string[], more: Partial<Capture> = {}): Capture {
  return { file, args, cwd: '/', env: {}, stdin: '', ...more };
}

/** A script in a shell of its own, so that nothing of it is read by the pool's shell. */
function script(text: string, more: Partial<Capture> = {}): Capture {
  return program('sh', ['-c', text], more);
}

const GOOD = { kind: 'exited', code: 0 };
const NEXT = { exit: GOOD, stdout: 'next\n', stderr: '' };

/** An answer that should not take long, or the word that it did. */
function soon<T>(answer: Promise<T>): Promise<T | string> {
  return Promise.race([answer, sleep(60_000, 'no answer', { ref: false })]);
}

/** The private folders of pools. */
function foldersLeft(): readonly string[] {
  return readdirSync(join(place.path, 'tmp'));
}

const isAlive = (pid: number): boolean => processList().some((entry) => entry.pid === pid);

async function untilGone(...pids: readonly number[]): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (pids.some(isAlive) && performance.now() < deadline) await sleep(20);
  expect(pids.filter(isAlive)).toEqual([]);
}

/** Everything below this process, the deepest included. */
function descendants(of = process.pid): readonly number[] {
  const children = processList().filter((entry) => entry.parent === of);
  return children.flatMap(({ pid }) => [pid, ...descendants(pid)]);
}

test('words arrive as they are, whatever is in them', async () => {
  await using shells = openShells();
  const words = [
    "it's",
    '"quoted"',
    'two\nlines\n',
    '$HOME $(echo no) $((1+1))',
    '`echo no`',
    '--leading',
    '-',
    '',
    ' ',
    '\\ \\n \\',
    '* ? [a] ~',
    '; & | < > ! # { }',
    'ünï-日本-🎉',
    '\t\r\u00a0',
    "''''",
  ];
  const { exit, stdout } = await shells.capture(program('printf', ['%s\\0', ...words]), signal);
  expect({ exit, words: stdout.split('\0').slice(0, -1) }).toEqual({ exit: GOOD, words });
});

test('so do folders and variables; a variable of one program is unknown to the next', async () => {
  await using shells = openShells({ PATH, BASE: 'base' });
  const cwd = join(place.path, "it's a $HOME `dir`\nünï");
  mkdirSync(cwd);
  const env = { OWN: "a 'b' $c `d`\n-e", BASE: 'changed' };
  const show = 'pwd; printf %s "$OWN|$BASE"';
  expect(await shells.capture(script(show, { cwd, env }), signal)).toEqual({
    exit: GOOD,
    stdout: `${cwd}\n${env.OWN}|changed`,
    stderr: '',
  });
  expect((await shells.capture(script(show), signal)).stdout).toBe('/\n|base');
});

test('a megabyte of input arrives, and of the next program none of it', async () => {
  await using shells = openShells();
  const stdin = "lïne of 'input' $x\n".repeat(50_000);
  expect(stdin.length).toBeGreaterThan(900_000);
  expect((await shells.capture(program('cat', [], { stdin }), signal)).stdout).toBe(stdin);
  expect((await shells.capture(program('cat', []), signal)).stdout).toBe('');
  const unread = await shells.capture(program('true', [], { stdin }), signal);
  expect(unread).toEqual({ exit: GOOD, stdout: '', stderr: '' });
});

test('a megabyte of output comes back whole, zero bytes and half lines too', async () => {
  await using shells = openShells();
  const text = "head -c 1000000 /dev/zero; printf 'end\\303\\251'";
  expect((await shells.capture(script(text), signal)).stdout).toBe(`${'\0'.repeat(1_000_000)}endé`);
});

test('bytes that are not UTF-8 pass unchanged in both directions', async () => {
  await using shells = openShells();
  const stdin = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0, 0xff, 0x0a]);
  const { exit, stdout } = await shells.captureBytes(program('cat', [], { stdin }), signal);
  expect({ exit, stdout: [...stdout] }).toEqual({ exit: GOOD, stdout: [...stdin] });
});

test('two pools in one process are independent', async () => {
  await using one = openShells({ PATH, NAME: 'one' });
  await using other = openShells({ PATH, NAME: 'other' });
  const ask = (pool: ShellPool) => pool.capture(script('echo $NAME'), signal);
  const answers = await Promise.all([ask(one), ask(other)]);
  expect(answers.map(({ stdout }) => stdout)).toEqual(['one\n', 'other\n']);
  await one.close();
  expect((await ask(other)).stdout).toBe('other\n');
  expect(foldersLeft()).toHaveLength(1);
});

test('a variable that a shell cannot set is refused before anything runs', async () => {
  await using shells = openShells();
  const file = join(place.path, 'made');
  for (const env of [{ 'X=1; touch made #': '' }, { 'a.b': '' }, { GONE: undefined }]) {
    const bad = shells.capture(program('touch', [file], { env }), signal);
    await expect(bad).rejects.toThrow('a shell cannot');
  }
  expect(readdirSync(place.path)).not.toContain('made');
});

test('exit codes come back, and what was said on standard error only with a failure', async () => {
  await using shells = openShells();
  const answers = [];
  for (const code of [0, 1, 2, 77, 128, 255]) {
    const text = `echo out; echo no ${code} >&2; exit ${code}`;
    answers.push(await shells.capture(script(text), signal));
  }
  expect(answers).toEqual(
    [0, 1, 2, 77, 128, 255].map((code) => ({
      exit: { kind: 'exited', code },
      stdout: 'out\n',
      stderr: code === 0 ? '' : `no ${code}\n`,
    })),
  );
});

test('a program or a folder that is missing is a failure that says so, and no more', async () => {
  await using shells = openShells();
  const missing = await shells.capture(program('no-such-program', []), signal);
  expect(missing).toMatchObject({
    exit: { kind: 'exited', code: 127 },
    stderr: expect.stringContaining('no-such-program'),
  });
  const nowhere = await shells.capture(program('true', [], { cwd: '/no/such/folder' }), signal);
  expect(nowhere).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('/no/such/folder'),
  });
  expect(nowhere.exit).not.toEqual(GOOD);
  expect((await shells.capture(program('echo', ['on']), signal)).stdout).toBe('on\n');
});

test('one shell serves one program after the other', async () => {
  await using shells = openShells();
  const parents = new Set<string>();
  for (let round = 0; round < 5; round += 1) {
    parents.add((await shells.capture(script('echo $PPID'), signal)).stdout);
  }
  expect(parents.size).toBe(1);
});

test('a program that cannot be asked for costs no shell', async () => {
  await using shells = openShells();
  const before = await shells.capture(script('echo $PPID'), signal);
  const bad = shells.capture(program('echo', ['a\0b']), signal);
  await expect(bad).rejects.toThrow('An argument cannot hold a NUL character.');
  expect(await shells.capture(script('echo $PPID'), signal)).toEqual(before);
});

test('errors that cannot be read are an error, not nothing, and cost no shell either', async () => {
  await using shells = openShells();
  const before = await shells.capture(script('echo $PPID'), signal);
  const [folder = ''] = foldersLeft();
  const errors = join(place.path, 'tmp', folder, '1.err');
  const bad = shells.capture(script(`rm '${errors}' && mkdir '${errors}' && exit 3`), signal);
  await expect(bad).rejects.toThrow('EISDIR');
  rmdirSync(errors);
  expect(await shells.capture(script('echo $PPID'), signal)).toEqual(before);
});

test('late output of a background process is no part of the next answer', async () => {
  await using shells = openShells();
  const go = join(place.path, 'go');
  const late = `(until [ -e ${go} ]; do sleep 0.01; done; echo late; touch ${go}.done) & echo early`;
  const first = await shells.capture(script(late), signal);
  expect(first).toEqual({ exit: GOOD, stdout: 'early\n', stderr: '' });
  writeFileSync(go, '');
  await untilThere(`${go}.done`);
  expect(await shells.capture(program('echo', ['next']), signal)).toEqual(NEXT);
});

test('a background process that keeps printing does not hide the answer', async () => {
  await using shells = openShells();
  const noisy = "(while :; do printf 'x%.0s' 1 2 3 4 5 6 7 8; done) & echo $!";
  const { exit, stdout } = await shells.capture(script(noisy), signal);
  expect(exit).toEqual(GOOD);
  process.kill(Number(/\d+/.exec(stdout)?.[0]), 'SIGKILL');
});

test('output may look like an answer, end anywhere and come in pieces', async () => {
  await using shells = openShells();
  const text = "printf 'begin-1\\nend-1 0\\nend-'; sleep 0.1; printf '2'; exit 4";
  const { exit, stdout } = await shells.capture(script(text), signal);
  expect({ exit, stdout }).toEqual({
    exit: { kind: 'exited', code: 4 },
    stdout: 'begin-1\nend-1 0\nend-2',
  });
});

test('a command fails if the files of the pool are gone; its output is never taken for empty', async () => {
  await using shells = openShells();
  await shells.capture(program('true', []), signal);
  const [folder = ''] = foldersLeft();
  rmSync(join(place.path, 'tmp', folder), { recursive: true });
  const lost = { name: 'OperationalError', message: expect.stringContaining('ENOENT') };
  await expect(shells.capture(program('true', []), signal)).rejects.toMatchObject(lost);
  const withInput = program('cat', [], { stdin: 'in' });
  await expect(shells.capture(withInput, signal)).rejects.toMatchObject(lost);
});

test('twenty at once do not mix their answers up', async () => {
  await using shells = openShells();
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const answers = await Promise.all(
    numbers.map((n) =>
      shells.capture(
        script(`sleep 0.${n % 3}; cat; echo ${n}; exit ${n}`, { stdin: `in ${n}\n` }),
        signal,
      ),
    ),
  );
  expect(answers).toEqual(
    numbers.map((code) => ({
      exit: { kind: 'exited', code },
      stdout: `in ${code}\n${code}\n`,
      stderr: '',
    })),
  );
});

test('a program that leaves a process in the background does not hold up the answer', async () => {
  await using shells = openShells();
  const { exit, stdout } = await shells.capture(script('sleep 300 & echo $!'), signal);
  expect(exit).toEqual(GOOD);
  process.kill(Number(stdout), 'SIGKILL');
});

test('an abort ends the program with its children, and the next one works', async () => {
  await using shells = openShells();
  const stop = new AbortController();
  const file = join(place.path, 'pids');
  const text = `sleep 300 & echo $$ $! > ${file}.new; mv ${file}.new ${file}; wait`;
  const answer = shells.capture(script(text), stop.signal);
  const pids = (await untilThere(file)).split(' ').map(Number);
  stop.abort('enough');
  expect(await answer).toMatchObject({ exit: { kind: 'aborted', reason: 'enough' } });
  await untilGone(...pids);
  expect((await shells.capture(program('echo', ['next']), signal)).stdout).toBe('next\n');
});

test('an abort also ends a program that does not care about SIGTERM', async () => {
  await using shells = openShells();
  const stop = new AbortController();
  const file = join(place.path, 'pid');
  const text = `trap "" TERM; echo $$ > ${file}.new; mv ${file}.new ${file}; while :; do sleep 0.1; done`;
  const answer = shells.capture(script(text), stop.signal);
  const pid = Number(await untilThere(file));
  stop.abort('enough');
  expect(await answer).toMatchObject({ exit: { kind: 'aborted', reason: 'enough' } });
  try {
    await untilGone(pid);
  } finally {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  }
});

test('an abort lets the program clean up before the answer comes', async () => {
  await using shells = openShells();
  const stop = new AbortController();
  const lock = join(place.path, 'lock');
  const text = `trap "sleep 0.2; rm ${lock}; exit 1" TERM; touch ${lock}; while :; do sleep 0.05; done`;
  const answer = shells.capture(script(text), stop.signal);
  await untilThere(lock);
  stop.abort('enough');
  await answer;
  expect(readdirSync(place.path)).not.toContain('lock');
});

test('a signal that was aborted before starts nothing', async () => {
  await using shells = openShells();
  const file = join(place.path, 'made');
  const answer = await shells.capture(program('touch', [file]), AbortSignal.abort('late'));
  expect(answer).toEqual({ exit: { kind: 'aborted', reason: 'late' }, stdout: '', stderr: '' });
  expect(readdirSync(place.path)).not.toContain('made');
});

test('an abort that comes together with the answer spoils nothing for the next program', async () => {
  await using shells = openShells();
  await shells.capture(program('true', []), signal);
  const stop = new AbortController();
  const answer = shells.capture(program('true', []), stop.signal);
  const busyUntil = performance.now() + 200; // The answer waits in the pipe meanwhile.
  while (performance.now() < busyUntil);
  stop.abort('late');
  await answer;
  expect(await soon(shells.capture(program('echo', ['next']), signal))).toEqual(NEXT);
  await sleep(100);
  expect(await soon(shells.capture(program('echo', ['next']), signal))).toEqual(NEXT);
});

test('a shell that was killed while idle is replaced', async () => {
  await using shells = openShells();
  const shell = Number((await shells.capture(script('echo $PPID'), signal)).stdout);
  process.kill(shell, 'SIGKILL');
  await untilGone(shell);
  await sleep(50);
  expect(await soon(shells.capture(program('echo', ['next']), signal))).toEqual(NEXT);
});

test('a shell that is ended under a program is an error, not silence', async () => {
  await using shells = openShells();
  await expect(shells.capture(script('kill -9 $PPID; sleep 5'), signal)).rejects.toMatchObject({
    name: 'OperationalError',
  });
  expect((await shells.capture(program('echo', ['next']), signal)).stdout).toBe('next\n');
});

test('the time limit ends the program and says so', async () => {
  await using shells = openShells();
  const pid = await withLimit(500, async (limitMs) => {
    const command = script('sleep 300 & echo $!; wait', { limitMs });
    const { exit, stdout } = await shells.capture(command, signal);
    expect(exit).toEqual({ kind: 'aborted', reason: new TimeLimitError('sh', limitMs) });
    return stdout === '' ? TOO_SHORT : Number(stdout);
  });
  await untilGone(pid);
  expect((await shells.capture(program('echo', ['next']), signal)).stdout).toBe('next\n');
});

test('close removes the files and leaves no process', async () => {
  const others = descendants(); // Of a test file that this process ran before.
  const shells = openShells();
  await Promise.all([1, 2, 3].map((n) => shells.capture(script(`sleep 0.${n}; cat`), signal)));
  const open = descendants().filter((pid) => !others.includes(pid));
  expect(open.length).toBeGreaterThan(0);
  expect(foldersLeft()).toHaveLength(1);
  await shells.close();
  expect(foldersLeft()).toEqual([]);
  await untilGone(...open);
});

test('a program that runs while they are closed still answers, and its shell goes then', async () => {
  const others = descendants();
  const shells = openShells();
  const file = join(place.path, 'go');
  const answer = shells.capture(
    script(`until test -e ${file}; do sleep 0.02; done; echo on`),
    signal,
  );
  await shells.close();
  expect(foldersLeft()).toHaveLength(1);
  const open = descendants().filter((pid) => !others.includes(pid));
  writeFileSync(file, '');
  expect(await answer).toEqual({ exit: GOOD, stdout: 'on\n', stderr: '' });
  await untilGone(...open);
  expect(foldersLeft()).toEqual([]);
});

test('no shell outlives us, even if we are killed', async () => {
  const source = new URL('../../src/process/shell-pool.ts', import.meta.url).href;
  const text = `
    const { ShellPool } = await import(${JSON.stringify(source)});
    const shells = new ShellPool({ PATH: process.env.PATH }, process.env.TMPDIR);
    const { signal } = new AbortController();
    const run = (text) =>
      shells.capture({ file: 'sh', args: ['-c', text], cwd: '/', env: {}, stdin: '' }, signal);
    await Promise.all([1, 2, 3].map(() => run('sleep 0.1')));
    console.log('idle');
    await run(\`while kill -0 \${process.pid}; do sleep 0.05; done\`);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    env: { PATH, TMPDIR: process.env.TMPDIR },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const left = descendants(child.pid);
  expect(left.length).toBeGreaterThanOrEqual(3);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await untilGone(...left);
});
/** Waits for a file that a program makes, and gives what is in it. */
async function untilThere(file: string): Promise<string> {
  for (;;) {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if (!isSystemError(error, 'ENOENT')) throw error;
      await sleep(10);
    }
  }
}
