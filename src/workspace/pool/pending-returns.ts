/**
 * PendingReturns: workspaces whose attempt has just succeeded. Once their work lands they are free.
 * A wait for one is at most as long as making a new one took, counted from the end of the attempt.
 */

import { pause } from '../../base/pause.ts';

/** Rough cost per file of a new workspace while others are being made. */
const NEW_MS_PER_FILE = 0.1;

export class PendingReturns {
  readonly #since = new Map<string, number>();
  #newMs: number | null = null;
  #waiting = new AbortController();

  learn(newMs: number): void {
    this.#newMs = newMs;
  }

  /** Estimates that from a reused workspace, as long as none was made. */
  guess(files: number): void {
    this.#newMs ??= files * NEW_MS_PER_FILE;
  }

  add(dir: string): void {
    this.#since.set(dir, performance.now());
  }

  /** It is free, or in use again. */
  delete(dir: string): void {
    if (!this.#since.delete(dir)) return;
    this.#waiting.abort('look again');
    this.#waiting = new AbortController();
  }

  /** Waits for the next one; false where waiting is not worthwhile. */
  async next(): Promise<boolean> {
    const last = Math.max(...this.#since.values());
    const ms = last + (this.#newMs ?? 0) - performance.now();
    if (!(ms > 0)) return false;
    await pause(ms, this.#waiting.signal);
    return true;
  }
}
