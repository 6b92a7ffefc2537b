/**
 * One long-lived `git update-ref --stdin` per repository: moving a ref costs a line on a pipe instead
 * of a process.
 *
 *   W1. A move is confirmed only by git's own `commit: ok`: it is durable and was a compare-and-swap.
 *   W2. On any doubt (a lost race, a lock, a writer that died) the answer is `null`, and the caller
 *       asks again in the ordinary way, which tells what is wrong.
 *   W3. It ends when its input is closed, so it cannot outlive the engine.
 */

import { Mutex } from '../base/mutex.ts';
import { type Input, run } from '../process/run.ts';
import { gitEnvironment } from './environment.ts';
import type { Sha } from './git.ts';

const ANSWER_MS = 10_000;

export interface RefMove {
  readonly ref: string;
  readonly to: Sha;
  readonly from: Sha;
  /** Throws where the ref must not be moved any more; asked last of all. */
  readonly assertHeld?: (() => void) | undefined;
}

class RefWriter {
  readonly #stop = new AbortController();
  readonly #mutex = new Mutex();
  /** Resolves when it can be written to, or has ended instead. */
  readonly ready: Promise<void>;
  readonly ended: Promise<unknown>;
  #input: Input | null = null;
  #hear: ((line: string | null) => void) | null = null;

  constructor(commonDir: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.ended = run(
      {
        file: 'git',
        args: ['update-ref', '--stdin'],
        cwd: commonDir,
        env: gitEnvironment(process.env, {}),
        stdin: '',
        keepsInput: true,
        graceMs: 0,
        mark: null,
        onStart: (input) => {
          this.#input = input;
          resolve();
        },
        onLine: (line, from) => this.#hear?.(from === 'stdout' ? line : null),
      },
      this.#stop.signal,
    )
      .catch(() => undefined)
      .finally(() => {
        this.#input = null;
        resolve();
        this.#hear?.(null);
      });
  }

  /** True when the ref has moved; null when that must be found out in another way. */
  move({ ref, to, from, assertHeld }: RefMove): Promise<true | null> {
    return this.#mutex.run(async () => {
      await this.ready;
      if (this.#input === null) return null;
      assertHeld?.();
      const answer = this.#answer();
      this.#input.write(`start\nupdate ${ref} ${to} ${from}\nprepare\ncommit\n`);
      return answer;
    });
  }

  close(): void {
    this.#input?.end();
  }

  #answer(): Promise<true | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#hear?.(null), ANSWER_MS);
      this.#hear = (line) => {
        if (line !== null && line !== 'commit: ok') return; // `start: ok`, `prepare: ok`
        clearTimeout(timer);
        this.#hear = null;
        if (line === null) this.#stop.abort('broken');
        resolve(line === null ? null : true);
      };
    });
  }
}

const writers = new Map<string, RefWriter>();

/** Moves a ref by compare-and-swap; null says nothing: ask again in the ordinary way. */
export async function quickMove(
  commonDir: string,
  ref: string,
  move: Omit<RefMove, 'ref'>,
): Promise<true | null> {
  const writer = writers.get(commonDir) ?? new RefWriter(commonDir);
  writers.set(commonDir, writer);
  const answer = await writer.move({ ...move, ref });
  if (answer === null && writers.get(commonDir) === writer) writers.delete(commonDir);
  return answer;
}

/** Lets the writer of a repository go, and waits until it has. */
export async function closeRefWriter(commonDir: string): Promise<void> {
  const writer = writers.get(commonDir);
  writers.delete(commonDir);
  writer?.close();
  await writer?.ended;
}
