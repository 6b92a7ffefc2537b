/**
 * A small shell that waits for commands on its input, whoever started it (starter.ts).
 *
 *   H1. It ends when its input is closed: it cannot outlive us, however we end.
 *   H2. What it says comes line by line, in its order, and is kept until somebody asks.
 *   H3. `isOver` is true as soon as nothing can be asked of it any more.
 */

import type { Readable, Writable } from 'node:stream';
import { assert } from '../base/assert.ts';
import type { StartedChild } from './spawn.ts';
import { isAlive, leaderIn, startIn } from './table.ts';

/** What a shell says to tell of itself. */
export const TELL = 'read -r stat </proc/self/stat && echo "$stat"';

/** What the shell is to us. */
export interface Ends {
  /** Null where somebody else has started it: it has to be met first. */
  readonly pid: number | null;
  readonly input: Writable;
  readonly output: Readable;
  /** Calls back when the shell cannot answer any more, and resolves when it is gone. */
  over(tell: () => void): Promise<void>;
}

/** The ends of a child of our own; the errors of a shell are nobody's concern. */
export function endsOf(child: StartedChild): Ends {
  child.stderr?.resume();
  const over = (tell: () => void): Promise<void> =>
    new Promise((resolve) => {
      child.once('exit', () => {
        tell();
        resolve();
      });
    });
  return { pid: child.pid, input: child.stdin!, output: child.stdout!, over };
}

export class Shell {
  readonly #input: Writable;
  readonly #output: Readable;
  /** Resolves when nothing of it is left. */
  readonly gone: Promise<void>;
  readonly #lines: string[] = [];
  #pid: number | null;
  #start: number | null = null;
  #text = '';
  #wake: (() => void) | null = null;
  isOver = false;

  constructor({ pid, input, output, over }: Ends) {
    this.#pid = pid;
    this.#input = input;
    this.#output = output;
    input.on('error', () => {});
    output.on('error', () => {});
    output.setEncoding('latin1').on('data', (text: string) => this.#hear(text));
    this.gone = over(() => {
      this.isOver = true;
      this.#wake?.();
    });
  }

  /** Its id, which is also that of its group. */
  get pid(): number {
    assert(this.#pid !== null, 'a shell that somebody else has started is met before it is used');
    return this.#pid;
  }

  /** Lets it tell who it is; false where it is no leader of a session and a group, or is gone. */
  async meet(): Promise<boolean> {
    this.say(`${TELL}\n`);
    const stat = (await this.line()) ?? '';
    this.#pid = leaderIn(stat);
    this.#start = startIn(stat);
    return this.#pid !== null;
  }

  /** Whether one that was met is still a process. */
  isThere(): boolean {
    const [pid, start] = [this.#pid, this.#start];
    return pid !== null && start !== null && isAlive({ pid, start });
  }

  /** Nobody hears what is said to one that is gone. */
  say(text: string): void {
    if (!this.isOver) this.#input.write(text);
  }

  /** What it says next; null where it is gone. One at a time may ask. */
  async line(): Promise<string | null> {
    while (this.#lines.length === 0 && !this.isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift() ?? null;
  }

  /** Lets it go, and waits until it is gone. */
  async close(): Promise<void> {
    this.#input.destroy();
    await this.gone;
  }

  /** Lets go of one that may never have been there. */
  drop(): void {
    this.#input.destroy();
    this.#output.destroy();
  }

  #hear(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    this.#lines.push(...lines);
    if (lines.length > 0) this.#wake?.();
  }
}
