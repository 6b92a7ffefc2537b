/**
 * A git process that stays and answers line by line: a question costs a write to a pipe instead of
 * the start of a process.
 *
 *   T1. One question at a time; whoever asks meanwhile waits.
 *   T2. A git that has ended, or does not answer in time, answers null from then on: the caller
 *       asks an ordinary command, which says what is wrong.
 *   T3. It ends when its input is closed, so it cannot outlive us.
 */

import type { Exit } from '../base/exit.ts';
import { Mutex } from '../base/mutex.ts';
import { type Input, run } from '../process/run.ts';
import { DURABLE, gitEnvironment } from './environment.ts';

const ANSWER_MS = 10_000;

export class Conversation implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #mutex = new Mutex();
  readonly #input = Promise.withResolvers<Input | null>();
  readonly #lines: string[] = [];
  readonly #errors: string[] = [];
  readonly ended: Promise<Exit | null>;
  isOver = false;
  #wake: () => void = () => {};

  constructor(dir: string, args: readonly string[], signal: AbortSignal | null = null) {
    const stop = signal === null ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]);
    const command = {
      file: 'git',
      args: ['-c', DURABLE, ...args],
      cwd: dir,
      env: gitEnvironment(process.env, {}),
      stdin: '',
      keepsInput: true,
      graceMs: 1_000,
      mark: null,
      onStart: (input: Input) => this.#input.resolve(input),
      onLine: (line: string, from: 'stdout' | 'stderr') => this.#hear(line, from),
    };
    this.ended = run(command, stop)
      .catch((error: unknown) => {
        this.#errors.push(String(error));
        return null;
      })
      .finally(() => {
        this.isOver = true;
        this.#input.resolve(null);
        this.#wake();
      });
  }

  /** What it has complained about so far. */
  get errors(): string {
    return this.#errors.join('\n').trim();
  }

  /** Says something and hears the lines up to, and with, the first one that `isLast`. */
  ask(text: string, isLast: (line: string) => boolean): Promise<readonly string[] | null> {
    return this.#mutex.run(async () => {
      await this.say(text);
      const timer = setTimeout(() => this.#stop.abort('no answer'), ANSWER_MS);
      try {
        return await this.hear(isLast);
      } finally {
        clearTimeout(timer);
      }
    });
  }

  async say(text: string): Promise<void> {
    (await this.#input.promise)?.write(text);
  }

  /** The lines up to, and with, the first one that `isLast`; null once it has ended without. */
  async hear(isLast: (line: string) => boolean): Promise<readonly string[] | null> {
    const heard: string[] = [];
    for (;;) {
      for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
        heard.push(line);
        if (isLast(line)) return heard;
      }
      if (this.isOver) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#input.promise)?.end();
    await this.ended;
  }

  #hear(line: string, from: 'stdout' | 'stderr'): void {
    (from === 'stdout' ? this.#lines : this.#errors).push(line);
    this.#wake();
  }
}
