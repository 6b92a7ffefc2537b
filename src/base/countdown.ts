/**
 * Countdown: a timer that can be halted. Time in which this process was stopped, or the machine
 * asleep, does not count: it could not have noticed a sign of life. It reads the clock once a
 * second; a longer gap between two readings is such time.
 */

import type { Haltable } from './suspension.ts';

const LOOK_MS = 1_000;
/** A busy process reads the clock late; only a gap longer than this was sleep. */
const LATEST_MS = 3 * LOOK_MS;

export class Countdown implements Haltable, Disposable {
  readonly #over: () => void;
  #leftMs: number;
  #lookedAt = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Calls `over` once, after `ms` of time that was not halted. */
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

/** Timers may fire a little early. */
const EARLY_MS = 1;
