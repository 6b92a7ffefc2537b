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

import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, OperationalError } from '../base/errors.ts';
import type { Exit } from '../base/exit.ts';
import { quoted } from '../base/shell-word.ts';
import { type Capture, type Captured, TimeLimitError } from './capture.ts';
import type { Shell } from './shell.ts';
import { ShellPool } from './shell-pool.ts';
import { codeOf, MORE_RESOURCES, SpawnError, sendSignal } from './spawn.ts';
import { startShell } from './starter.ts';

const GRACE_MS = 500;
const GIVE_UP_MS = 5_000;
const POLL_MS = 10;
const HANDLES_MS = 5_000;
const HANDLES_POLL_MS = 50;

/** Programs run by a few shells, as many at a time as are asked for. */
export class CoShells {
  readonly #pool: ShellPool<CoShell>;

  /** `env` is what every program gets; a call adds its own. `dir` goes when the shells do. */
  constructor(env: NodeJS.ProcessEnv, dir: string) {
    this.#pool = new ShellPool(dir, async (path) => new CoShell(await startShell(env), path));
  }

  /** As `capture` does it; `env` of the command is what is added. */
  async capture(command: Capture, signal: AbortSignal): Promise<Captured> {
    if (signal.aborted) {
      return { exit: { kind: 'aborted', reason: signal.reason }, stdout: '', stderr: '' };
    }
    const shell = await this.#pool.take(patiently);
    try {
      return await shell.run(command, signal);
    } finally {
      await this.#pool.give(shell, true);
    }
  }

  /** Lets the shells go; one that is still at work goes as soon as its program has ended. */
  async close(): Promise<void> {
    await this.#pool.close();
  }
}

class CoShell {
  readonly #shell: Shell;
  readonly #files: { readonly input: string; readonly output: string; readonly errors: string };

  constructor(shell: Shell, path: string) {
    this.#shell = shell;
    this.#files = { input: `${path}.in`, output: `${path}.out`, errors: `${path}.err` };
  }

  get isOver(): boolean {
    return this.#shell.isOver;
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
    await this.#shell.close();
  }

  /** What the program exits with; null where its shell is gone instead. */
  async #ask(command: Capture): Promise<number | null> {
    const { input, output, errors } = this.#files;
    const from = command.stdin === '' ? '/dev/null' : wordOf(input);
    const env = Object.entries(command.env).map(
      ([name, value]) => `${name}=${wordOf(value ?? '')}`,
    );
    const words = [...env, wordOf(command.file), ...command.args.map(wordOf)].join(' ');
    const where = `cd ${wordOf(command.cwd)}`;
    this.#shell.say(
      `{ ${where} && ${words}; } <${from} >${wordOf(output)} 2>${wordOf(errors)}; ` +
        'code=$?; cd /; echo "$code"\n', // It does not stay in a folder that may be removed.
    );
    const line = await this.#shell.line();
    return line === null ? null : Number.parseInt(line, 10);
  }

  /** The program and the shell itself: they are one group. */
  #end(): void {
    if (!this.isOver) sendSignal(-this.#shell.pid, 'SIGTERM');
  }

  /** The shell goes at once; a program may take its time, or have to be made to go. */
  async #gone(): Promise<void> {
    const deadline = performance.now() + GRACE_MS;
    while (isGroupAlive(this.#shell.pid)) {
      if (performance.now() > deadline) sendSignal(-this.#shell.pid, 'SIGKILL');
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
