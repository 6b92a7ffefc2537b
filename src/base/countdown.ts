/** Countdown: a timer whose time can stand still. */

import type { Haltable } from './suspension.ts';

export class Countdown implements Haltable, Disposable {
  readonly #over: () => void;
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Calls `over` once, after so much time that was not halted. It starts halted where told so. */
  constructor(ms: number, over: () => void, halted = false) {
    this.#leftMs = ms;
    this.#over = over;
    if (!halted) this.goOn();
  }

  halt(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#leftMs -= performance.now() - this.#startedAt;
  }

  goOn(): void {
    if (this.#timer !== null) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#over, Math.max(0, this.#leftMs));
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
