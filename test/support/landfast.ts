/**
 * The built program, run as a user would run it: a process, its streams, its exit code.
 *
 *   P1. The environment is built from nothing: no account, key or git configuration of the user who runs
 *       the tests reaches the program or what it starts.
 *   P2. Nothing sleeps: a test waits for a line or for an entry of the journal.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Entry } from '../../src/model/event.ts';

/** Holds what V8 has compiled of the program, for all tests (src/cli/boot/compile-cache.ts). */
export const COMPILED = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

/** What users start. */
export const BIN = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Options {
  readonly cwd: string;
  /** Added to an environment that holds only what any program needs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another user than the one who runs the tests. */
  readonly as?: User;
}

export type User = { readonly uid: number; readonly gid: number } | Record<string, never>;

/** A user other than root, who may do everything. */
export const SOMEBODY: User = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The environment of a user with nothing but a home. */
export function bareEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    XDG_STATE_HOME: join(home, '.state'),
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    XDG_CACHE_HOME: COMPILED,
  };
}

/** Runs the program to its end. */
export async function landfast(args: readonly string[], options: Options): Promise<Ended> {
  return start(args, options).ended;
}

/** Starts the program; tests steer it while it runs. */
export function start(args: readonly string[], { cwd, env = {}, as = {} }: Options): Running {
  const home = join(cwd, '..');
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { ...bareEnv(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...as,
  });
  return new Running(child);
}

export class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  readonly #waiting = new Set<() => void>();

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#changed();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#changed();
    });
    this.ended = once(child, 'close').then(([code, signal]) => {
      this.#changed();
      return { code, signal, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  /** The entries printed so far, when it was started with `--events`. */
  get entries(): readonly Entry[] {
    const lines = this.#stdout.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Entry);
  }

  /** Waits until the condition holds for what was printed so far. */
  async until(condition: (running: this) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`it ended before that:\n${this.#stdout}\n${this.#stderr}`);
      }
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Waits for a fact, with `--events`. */
  untilFact(type: string, task?: string): Promise<void> {
    return this.until(({ entries }) =>
      entries.some(
        ({ event }) =>
          event.type === type && (task === undefined || ('task' in event && event.task === task)),
      ),
    );
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  #changed(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
