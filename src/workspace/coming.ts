/**
 * Coming: workspaces whose attempt has just ended well. Their work is about to land, and then they
 * are free: to wait for one costs less than to make a new one.
 *
 *   V1. Nobody waits for one longer than a new one took to make, counted from the end of its
 *       attempt: where gates take their time, nobody waits at all.
 */

import { pause } from '../base/pause.ts';

/** What a new workspace takes for each of its files, about, while others are made, too. */
const NEW_MS_PER_FILE = 0.1;

export class Coming {
  /** When the attempt in each of them ended. */
  readonly #since = new Map<string, number>();
  #newMs: number | null = null;
  #waiting = new AbortController();

  /** What it took to make a new one, the last time. */
  learn(newMs: number): void {
    this.#newMs = newMs;
  }

  /** A workspace of so many files was there already: a guess, as long as none was made. */
  guess(files: number): void {
    this.#newMs ??= files * NEW_MS_PER_FILE;
  }

  /** An attempt ended well; its workspace may be free soon. */
  add(dir: string): void {
    this.#since.set(dir, performance.now());
  }

  /** It is free by now, or somebody works in it again. */
  delete(dir: string): void {
    if (!this.#since.delete(dir)) return;
    this.#waiting.abort('look again');
    this.#waiting = new AbortController();
  }

  /** Waits for the next one; false where none is to be waited for. */
  async next(): Promise<boolean> {
    const last = Math.max(...this.#since.values());
    const ms = last + (this.#newMs ?? 0) - performance.now();
    if (!(ms > 0)) return false;
    await pause(ms, this.#waiting.signal);
    return true;
  }
}
