/**
 * Countdown: a timer whose time can stand still.
 *
 *   C1. Only time in which this process could run counts: while it was stopped, or the machine was
 *       asleep, nobody could have told it of a sign of life. It looks at the clock once a second,
 *       and what is missing between two looks was no time of ours.
 */

import type { Haltable } from './suspension.ts';

const LOOK_MS = 1_000;
/** A busy process looks late; only what is later than this is time that it has missed. */
const LATEST_MS = 3 * LOOK_MS;

export class Countdown implements Haltable, Disposable {
  readonly #over: () => void;
  #leftMs: number;
  #lookedAt = 0;
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
    this.#count();
  }

  goOn(): void {
    if (this.#timer === null) this.#lookLater();
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #lookLater(): void {
    this.#lookedAt = performance.now();
    const ms = Math.min(LOOK_MS, Math.max(0, this.#leftMs));
    this.#timer = setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    this.#count();
    if (this.#leftMs <= EARLY_MS) this.#over();
    else this.#lookLater();
  }

  #count(): void {
    const passed = performance.now() - this.#lookedAt;
    this.#leftMs -= passed > LATEST_MS ? LOOK_MS : passed;
  }
}

/** A timer may fire a little before its time. */
const EARLY_MS = 1;
