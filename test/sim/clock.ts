/** Virtual time: it stands still until it is moved, and moving it fires what is due, in order. */

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

export class Clock {
  now: number;
  /** Sorted by time; equal times in the order they were asked for. */
  readonly #timers: Timer[] = [];

  constructor(now: number) {
    this.now = now;
  }

  after(ms: number, fire: () => void): void {
    const at = this.now + ms;
    let place = this.#timers.length;
    while (place > 0 && this.#timers[place - 1]!.at > at) place -= 1;
    this.#timers.splice(place, 0, { at, fire });
  }

  /** Fires the first timer that is due until then; false when there is none. */
  fireNext(until: number): boolean {
    const first = this.#timers[0];
    if (first === undefined || first.at > until) return false;
    this.#timers.shift();
    this.now = Math.max(this.now, first.at);
    first.fire();
    return true;
  }

  /** Fires everything that is due until then, and arrives there. */
  advanceTo(time: number): void {
    while (this.fireNext(time));
    this.now = Math.max(this.now, time);
  }
}
