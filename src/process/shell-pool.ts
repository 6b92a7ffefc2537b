/**
 * A pool of small `/bin/sh` processes that start short commands, such as git, for us.
 *
 * Node starts a process with `fork`, which copies the page tables of the whole engine while the
 * event loop waits: 1 ms at 50 MB, 4.5 ms at 150 MB. A shell of 1 MB forks in a tenth of a
 * millisecond, and asking it costs us one write to a pipe. Without the pool, a run of 50 small
 * tasks with 400 git commands took 1.5 to 1.8 times as long and 1.4 times the CPU time.
 *
 * A shell reads commands from its standard input, runs one at a time, and prints its exit code:
 *
 *   we write   { cd '/repo' && 'git' 'status'; } </dev/null >'/tmp/…/1.out' 2>'/tmp/…/1.err'; …
 *   it prints  0
 *
 * - A shell leads a process group. To stop a command and its children, the whole group is ended,
 *   shell included. A shell that has ended is not used again.
 * - Words are quoted: nothing in a command is ever read as shell syntax.
 * - Input and output go through files in a private folder, so a process that the command leaves in
 *   the background cannot delay the answer. Output that cannot be read is an error, never empty
 *   output; so is a failure without a word where the folder has no room for one. Standard error is
 *   read only when the command failed.
 * - A shell ends when its standard input closes, so none outlives us, even if we are killed.
 * - Whatever goes wrong with a command, its shell returns to the pool and is closed with it.
 * - When file handles run out, we retry for a while before giving up.
 *
 * A shell reports a command that died of signal N as exit code 128 + N, a missing program as 127.
 */

import { readFileSync, writeFileSync } from 'node:fs';
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
  readonly #files: { readonly input: string; readonly output: string; readonly errors: string };
  readonly #ended: Promise<void>;
  #printed = '';
  #answer: ((line: string | null) => void) | null = null;
  /** It has ended or is ending: takes no more commands. */
  isOver = false;

  /** Its files are in `dir`, and their names begin with `name`. */
  constructor(child: StartedChild, dir: string, name: string) {
    this.#child = child;
    this.#dir = dir;
    const path = join(dir, name);
    this.#files = { input: `${path}.in`, output: `${path}.out`, errors: `${path}.err` };
    child.stdin?.on('error', () => {}); // It has ended; its exit event says so.
    child.stderr?.resume();
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#printed += chunk.toString('latin1');
      if (this.#printed.endsWith('\n')) this.#answer?.(this.#printed);
    });
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        this.isOver = true;
        this.#answer?.(null);
        resolve();
      });
    });
  }

  async run(command: Capture, signal: AbortSignal): Promise<CapturedBytes> {
    const { input, output, errors } = this.#files;
    const line = this.#lineFor(command);
    let stopped: { readonly reason: unknown } | null = null;
    using _ = whenStopped(command, signal, (reason) => {
      stopped ??= { reason };
      if (this.isOver) return;
      this.isOver = true;
      sendSignal(-this.#child.pid, 'SIGTERM');
    });
    if (command.stdin.length > 0) {
      await patiently(() => this.#writeInput(input, command.stdin));
    }
    const code = await this.#ask(line);
    if (stopped !== null) await this.#groupEnd();
    const exit = exitOf(code, stopped);
    const isGood = exit.kind === 'exited' && exit.code === 0;
    const read = (file: string) => patiently(() => contentOf(file, exit));
    const stdout = await read(output);
    const stderr = isGood ? NONE : await read(errors);
    // 1 is a result of many commands; every other failure prints a reason where there is room.
    if (code !== null && code > 1 && stderr.length === 0) requireRoomIn(this.#dir);
    return { exit, stdout, stderr };
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
  #lineFor({ file, args, cwd, env, stdin }: Capture): string {
    const { input, output, errors } = this.#files;
    const words = [...assignments(env), wordOf(file), ...args.map(wordOf)].join(' ');
    const from = stdin.length > 0 ? wordOf(input) : '/dev/null';
    const files = `<${from} >${wordOf(output)} 2>${wordOf(errors)}`;
    return `{ cd ${wordOf(cwd)} && ${words}; } ${files}; code=$?; cd /; echo "$code"\n`;
  }

  /** The exit code; null if the shell ends instead. */
  async #ask(line: string): Promise<number | null> {
    if (this.isOver) return null;
    const answer = await new Promise<string | null>((resolve) => {
      this.#printed = '';
      this.#answer = resolve;
      this.#child.stdin?.write(line);
    });
    this.#answer = null;
    return answer === null ? null : Number.parseInt(answer, 10);
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

/** Output of a command. One that was stopped early may not have opened its files. */
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
