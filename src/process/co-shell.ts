/**
 * Small shells that start programs on our behalf. Starting a process from a large one is dear: the
 * kernel copies its tables, and our event loop waits; a shell of a megabyte does it in no time.
 *
 *   S1. A shell runs one program at a time and leads its own process group: to stop a program, with
 *       all that it started, the group is ended, and a new shell takes the place.
 *   S2. Words reach the shell quoted; nothing in them is ever read as shell text.
 *   S3. Output goes through files of our own, so a program that leaves a process behind cannot hold
 *       up the answer. The error text is read only when the program failed.
 *       Output that cannot be read is an error: it is never taken for no output.
 *   S4. A shell ends when its input is closed: it cannot outlive us, however we end.
 *   S5. Whatever goes wrong with one program, its shell is let go with the others: one that nobody
 *       knows of would hold our handles, and us.
 *   S6. Where there are no handles left, others are given a while to let go of some of theirs.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, OperationalError } from '../base/errors.ts';
import type { Exit } from '../base/exit.ts';
import { quoted } from '../base/shell-word.ts';
import { type Capture, type Captured, TimeLimitError } from './capture.ts';
import {
  codeOf,
  MORE_RESOURCES,
  SpawnError,
  type StartedChild,
  sendSignal,
  start,
} from './spawn.ts';

const GRACE_MS = 500;
const GIVE_UP_MS = 5_000;
const POLL_MS = 10;
const HANDLES_MS = 5_000;
const HANDLES_POLL_MS = 50;

/** Programs run by a few shells, as many at a time as are asked for. */
export class CoShells {
  readonly #env: NodeJS.ProcessEnv;
  readonly #dir: string;
  readonly #idle: CoShell[] = [];
  #made = 0;
  #busy = 0;
  #isClosed = false;

  /** `env` is what every program gets; a call adds its own. `dir` goes when the shells do. */
  constructor(env: NodeJS.ProcessEnv, dir: string) {
    this.#env = env;
    this.#dir = dir;
  }

  /** As `capture` does it; `env` of the command is what is added. */
  async capture(command: Capture, signal: AbortSignal): Promise<Captured> {
    if (signal.aborted) {
      return { exit: { kind: 'aborted', reason: signal.reason }, stdout: '', stderr: '' };
    }
    this.#busy += 1;
    try {
      const shell = await patiently(() => this.#takeIdle() ?? this.#start());
      try {
        return await shell.run(command, signal);
      } finally {
        if (!shell.isOver) this.#idle.push(shell);
      }
    } finally {
      this.#busy -= 1;
      if (this.#isClosed) await this.close();
    }
  }

  /** Lets the shells go; one that is still at work goes as soon as its program has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map((shell) => shell.close()));
    if (this.#busy === 0) rmSync(this.#dir, { recursive: true, force: true });
  }

  /** One that is still there: somebody may have ended it. */
  #takeIdle(): CoShell | null {
    let shell = this.#idle.pop();
    while (shell?.isOver) shell = this.#idle.pop();
    return shell ?? null;
  }

  async #start(): Promise<CoShell> {
    this.#made += 1;
    const path = join(this.#dir, String(this.#made)); // Before the wait: others start meanwhile.
    const program = { file: '/bin/sh', args: ['-s'], cwd: '/', env: this.#env };
    return new CoShell(await start(program, 'pipe'), path);
  }
}

class CoShell {
  readonly #child: StartedChild;
  readonly #files: { readonly input: string; readonly output: string; readonly errors: string };
  readonly #ended: Promise<void>;
  #answer: ((code: number | null) => void) | null = null;
  #text = '';
  isOver = false;

  constructor(child: StartedChild, path: string) {
    this.#child = child;
    this.#files = { input: `${path}.in`, output: `${path}.out`, errors: `${path}.err` };
    child.stdin?.on('error', () => {});
    child.stderr?.resume();
    child.stdout?.setEncoding('latin1').on('data', (text: string) => this.#hear(text));
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        this.isOver = true;
        this.#answer?.(null);
        resolve();
      });
    });
  }

  async run(command: Capture, signal: AbortSignal): Promise<Captured> {
    let stopped: { readonly reason: unknown } | null = null;
    const stop = (reason: unknown): void => {
      stopped ??= { reason };
      this.#end();
    };
    const onAbort = (): void => stop(signal.reason);
    const { limitMs } = command;
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => stop(new TimeLimitError(command.file, limitMs)), limitMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const { stdin } = command;
      const { input } = this.#files;
      if (stdin !== '') await patiently(() => writeFileSync(input, stdin, { mode: 0o600 }));
      const code = await this.#ask(command);
      if (stopped !== null) await this.#gone();
      const exit = exitOf(code, stopped);
      const failed = exit.kind !== 'exited' || exit.code !== 0;
      return {
        exit,
        stdout: await patiently(() => textOf(this.#files.output)),
        stderr: failed ? await patiently(() => textOf(this.#files.errors)) : '',
      };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }

  #ask(command: Capture): Promise<number | null> {
    const { input, output, errors } = this.#files;
    const from = command.stdin === '' ? '/dev/null' : wordOf(input);
    const env = Object.entries(command.env).map(
      ([name, value]) => `${name}=${wordOf(value ?? '')}`,
    );
    const words = [...env, wordOf(command.file), ...command.args.map(wordOf)].join(' ');
    const where = `cd ${wordOf(command.cwd)}`;
    return new Promise((resolve) => {
      if (this.isOver) return resolve(null);
      this.#answer = resolve;
      this.#child.stdin?.write(
        `{ ${where} && ${words}; } <${from} >${wordOf(output)} 2>${wordOf(errors)}; echo $?\n`,
      );
    });
  }

  #hear(text: string): void {
    this.#text += text;
    if (!this.#text.endsWith('\n')) return;
    const code = Number.parseInt(this.#text, 10);
    this.#text = '';
    this.#answer?.(code);
    this.#answer = null;
  }

  /** The program and the shell itself: they are one group. */
  #end(): void {
    if (this.isOver) return;
    sendSignal(-this.#child.pid, 'SIGTERM');
  }

  /** The shell goes at once; a program may take its time, or have to be made to go. */
  async #gone(): Promise<void> {
    const deadline = performance.now() + GRACE_MS;
    while (isGroupAlive(this.#child.pid)) {
      if (performance.now() > deadline) sendSignal(-this.#child.pid, 'SIGKILL');
      if (performance.now() > deadline + GIVE_UP_MS) return; // Stuck in the kernel.
      await sleep(POLL_MS);
    }
  }
}

function isGroupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

function exitOf(code: number | null, stopped: { readonly reason: unknown } | null): Exit {
  if (stopped !== null) return { kind: 'aborted', reason: stopped.reason };
  if (code === null) throw new OperationalError('A shell that starts programs for us has ended.');
  return { kind: 'exited', code };
}

/** Does what needs a handle, again and again for a while if none is free. */
async function patiently<T>(work: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + HANDLES_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isShort = codeOf(error) === 'EMFILE' || codeOf(error) === 'ENFILE';
      const isSpawn = error instanceof SpawnError;
      if (!isShort && !(isSpawn && error.problem === 'no-resources')) throw error;
      if (performance.now() > deadline) throw isSpawn ? error : tooFew(error);
    }
    await sleep(HANDLES_POLL_MS);
  }
}

function tooFew(cause: unknown): OperationalError {
  return new OperationalError(messageOf(cause), { remedy: MORE_RESOURCES, cause });
}

/** What a program printed; nothing where it never got so far. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

function wordOf(text: string): string {
  if (text.includes('\0')) throw new OperationalError('An argument cannot hold a NUL character.');
  return quoted(text);
}
