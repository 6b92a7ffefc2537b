/**
 * A pool of small `/bin/sh` processes that start short commands, such as git, for us.
 *
 * Node starts a process with `fork`, which copies the page tables of the whole engine while the
 * event loop waits: 1 ms at 50 MB, 4.5 ms at 150 MB. A shell of 1 MB forks in a tenth of a
 * millisecond, and asking it costs us one write to a pipe. Without the pool, a run of 50 small
 * tasks with 400 git commands took 1.5 to 1.8 times as long and 1.4 times the CPU time.
 *
 * A shell reads commands from its standard input and runs one at a time. The command's output is the
 * shell's own, between two marks that no command knows:
 *
 *   we write   echo begin-0f1e; { cd '/repo' && 'git' 'status'; } </dev/null 2>'/tmp/…/1.err'; …
 *   it prints  begin-0f1e
 *              On branch main
 *              end-0f1e 0
 *
 * - A shell leads a process group. To stop a command and its children, the whole group is ended,
 *   shell included. A shell that has ended is not used again.
 * - Words are quoted: nothing in a command is ever read as shell syntax.
 * - A mark ends an answer, not end-of-file, so a process that the command leaves in the background
 *   cannot delay it; what such a process prints between two commands is dropped.
 * - Standard error goes to a file in a private folder, and is read only when the command failed. A
 *   failure without a word is an error where the folder has no room for one. Input is such a file,
 *   too, and a new one each time: some file systems write the old content to the disk before they
 *   truncate a file.
 * - A shell ends when its standard input closes, so none outlives us, even if we are killed.
 * - Whatever goes wrong with a command, its shell returns to the pool and is closed with it.
 * - When file handles run out, we retry for a while before giving up.
 *
 * A shell reports a command that died of signal N as exit code 128 + N, a missing program as 127.
 */

import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assert } from '../base/assert.ts';
import { isSystemError, messageOf, OperationalError } from '../base/errors.ts';
import type { Exit } from '../base/exit.ts';
import { quoted } from '../base/shell-word.ts';
import {
  asText,
  type Capture,
  type Captured,
  type CapturedBytes,
  nothingBecause,
  whenStopped,
} from './capture.ts';
import { processList } from './process-list.ts';
import { discard, noTempFolder, requireRoomIn } from './scratch.ts';
import { MORE_RESOURCES, SpawnError, type StartedChild, sendSignal, start } from './spawn.ts';

const GRACE_MS = 500;
const GIVE_UP_MS = 5_000;
const POLL_MS = 10;
const HANDLES_MS = 5_000;
const HANDLES_POLL_MS = 50;
/** For output that a stopped command wrote and the event loop has not read yet. */
const DRAIN_MS = 200;
/** Longer than a mark with its exit code. */
const TAIL_CHARACTERS = 64;

/** Starts a shell when all others are busy, and keeps it for the next command. */
export class ShellPool {
  readonly #env: NodeJS.ProcessEnv;
  readonly #dir: string;
  readonly #idle: Shell[] = [];
  #started = 0;
  #busy = 0;
  #isClosed = false;

  /** Every command gets `env`. `dir` must be private and empty; it is removed by `close`. */
  constructor(env: NodeJS.ProcessEnv, dir: string) {
    this.#env = env;
    this.#dir = dir;
  }

  /** Like `capture` of capture.ts, but the command's `env` is added to that of the pool. */
  async capture(command: Capture, signal: AbortSignal): Promise<Captured> {
    return asText(await this.captureBytes(command, signal));
  }

  async captureBytes(command: Capture, signal: AbortSignal): Promise<CapturedBytes> {
    if (signal.aborted) return nothingBecause(signal.reason);
    let shell: Shell | null = null;
    this.#busy += 1;
    try {
      shell = this.#takeIdle() ?? (await patiently(() => this.#start()));
      return await shell.run(command, signal);
    } finally {
      if (shell !== null) this.#idle.push(shell);
      this.#busy -= 1;
      if (this.#isClosed) await this.close();
    }
  }

  /** Ends the idle shells. A busy one finishes its command first; the folder goes with the last. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map((shell) => shell.close()));
    if (this.#busy === 0) await discard(this.#dir);
  }

  #takeIdle(): Shell | null {
    let shell = this.#idle.pop();
    while (shell?.isOver) shell = this.#idle.pop();
    return shell ?? null;
  }

  async #start(): Promise<Shell> {
    const program = { file: '/bin/sh', args: ['-s'], cwd: '/', env: this.#env };
    const child = await start(program, 'pipe');
    this.#started += 1;
    return new Shell(child, this.#dir, String(this.#started));
  }
}

const NONE = Buffer.alloc(0);

class Shell {
  readonly #child: StartedChild;
  readonly #dir: string;
  readonly #files: { readonly input: string; readonly errors: string };
  readonly #begin: string;
  readonly #end: string;
  readonly #ended: Promise<void>;
  #chunks: Buffer[] = [];
  #tail = '';
  #answer: ((code: number | null) => void) | null = null;
  /** It has ended or is ending: takes no more commands. */
  isOver = false;

  /** Its files are in `dir`, and their names begin with `name`. */
  constructor(child: StartedChild, dir: string, name: string) {
    this.#child = child;
    this.#dir = dir;
    const mark = randomUUID();
    this.#begin = `begin-${mark}`;
    this.#end = `end-${mark}`;
    const path = join(dir, name);
    this.#files = { input: `${path}.in`, errors: `${path}.err` };
    child.stdin?.on('error', () => {}); // It has ended; its exit event says so.
    child.stderr?.resume();
    child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        this.isOver = true;
        this.#answer?.(null);
        resolve();
      });
    });
  }

  async run(command: Capture, signal: AbortSignal): Promise<CapturedBytes> {
    const text = this.#textFor(command);
    let stopped: { readonly reason: unknown } | null = null;
    using _ = whenStopped(command, signal, (reason) => {
      stopped ??= { reason };
      if (this.isOver) return;
      this.isOver = true;
      sendSignal(-this.#child.pid, 'SIGTERM');
    });
    if (command.stdin.length > 0) {
      await patiently(() => this.#writeInput(this.#files.input, command.stdin));
    }
    const code = await this.#ask(text);
    if (stopped !== null) await this.#groupEnd();
    if (command.stdin.length > 0) rmSync(this.#files.input, { force: true });
    const exit = exitOf(code, stopped);
    const stdout = this.#output();
    const isGood = exit.kind === 'exited' && exit.code === 0;
    const stderr = isGood ? NONE : await patiently(() => contentOf(this.#files.errors, exit));
    // 1 is a result of many commands; every other failure prints a reason where there is room.
    if (code !== null && code > 1 && stderr.length === 0) requireRoomIn(this.#dir);
    return { exit, stdout, stderr };
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    const text = `${this.#tail}${chunk.toString('latin1')}`;
    const at = text.lastIndexOf(this.#end);
    this.#tail = text.slice(-TAIL_CHARACTERS);
    if (at < 0 || !text.includes('\n', at)) return;
    this.#answer?.(Number.parseInt(text.slice(at + this.#end.length), 10));
  }

  /** What the last command printed; one that was stopped may have no end. */
  #output(): Buffer {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [];
    const begin = all.indexOf(this.#begin);
    if (begin < 0) return NONE;
    const end = all.lastIndexOf(this.#end);
    return all.subarray(begin + this.#begin.length + 1, end < begin ? all.length : end);
  }

  #writeInput(file: string, content: Capture['stdin']): void {
    try {
      writeFileSync(file, content, { mode: 0o600 });
    } catch (error) {
      throw isShortage(error) ? error : noTempFolder(error);
    }
  }

  async close(): Promise<void> {
    this.#child.stdin?.destroy();
    await this.#ended;
  }

  /** The command as shell text. The shell does not stay in a folder that may be removed. */
  #textFor({ file, args, cwd, env, stdin }: Capture): string {
    const { input, errors } = this.#files;
    const words = [...assignments(env), wordOf(file), ...args.map(wordOf)].join(' ');
    const from = stdin.length > 0 ? wordOf(input) : '/dev/null';
    const files = `<${from} 2>${wordOf(errors)}`;
    const command = `{ cd ${wordOf(cwd)} && ${words}; } ${files}`;
    return `echo ${this.#begin}; ${command}; code=$?; cd /; echo "${this.#end} $code"\n`;
  }

  /** The exit code; null if the shell ends instead. */
  async #ask(text: string): Promise<number | null> {
    if (this.isOver) return null;
    const answer = await new Promise<number | null>((resolve) => {
      this.#chunks = [];
      this.#tail = '';
      this.#answer = resolve;
      this.#child.stdin?.write(text);
    });
    this.#answer = null;
    return answer;
  }

  /** The shell dies of SIGTERM at once; its command may clean up first, or ignore the signal. */
  async #groupEnd(): Promise<void> {
    const { pid } = this.#child;
    const deadline = performance.now() + GRACE_MS;
    while (isGroupAlive(pid)) {
      if (performance.now() > deadline) sendSignal(-pid, 'SIGKILL');
      if (performance.now() > deadline + GIVE_UP_MS) return; // Stuck in the kernel.
      await sleep(POLL_MS);
    }
    const read = new Promise((resolve) => this.#child.stdout?.once('close', resolve));
    if (this.#child.stdout?.closed === false) await Promise.race([read, sleep(DRAIN_MS)]);
  }
}

/** Zombies do not count: the process that adopts the shell's children may reap them late. */
function isGroupAlive(leader: number): boolean {
  return processList().some(({ group }) => group === leader);
}

function exitOf(code: number | null, stopped: { readonly reason: unknown } | null): Exit {
  if (stopped !== null) return { kind: 'aborted', reason: stopped.reason };
  if (code === null) throw new OperationalError('A shell that starts programs for us has ended.');
  return { kind: 'exited', code };
}

/** What a command said. One that was stopped early may not have opened its file. */
function contentOf(file: string, exit: Exit): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (exit.kind === 'aborted' && isSystemError(error, 'ENOENT')) return NONE;
    throw error;
  }
}

/** Retries for a while when file handles or processes have run out. */
async function patiently<T>(work: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + HANDLES_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isShortage(error)) throw operational(error, {});
      if (performance.now() > deadline) throw operational(error, { remedy: MORE_RESOURCES });
    }
    await sleep(HANDLES_POLL_MS);
  }
}

function isShortage(error: unknown): boolean {
  if (error instanceof SpawnError) return error.problem === 'no-resources';
  return isSystemError(error, 'EMFILE', 'ENFILE');
}

/** A pool file that cannot be read or written is a problem of the machine. */
function operational(error: unknown, help: { readonly remedy?: string }): OperationalError {
  if (error instanceof OperationalError) return error;
  return new OperationalError(messageOf(error), { ...help, cause: error });
}

function assignments(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(env).map(([name, value]) => {
    assert(/^[A-Za-z_]\w*$/.test(name), `a shell cannot set the variable ${name}`);
    assert(value !== undefined, `a shell cannot unset ${name} for one command`);
    return `${name}=${wordOf(value)}`;
  });
}

function wordOf(text: string): string {
  if (text.includes('\0')) throw new OperationalError('An argument cannot hold a NUL character.');
  return quoted(text);
}
