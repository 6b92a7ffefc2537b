/**
 * SteadyClock: the time of day for decisions, which never goes back.
 *
 *   S1. A clock that somebody sets back goes on from where it was: what waits for a moment waits no
 *       longer than it would have. One that is set forward, or a machine that slept, is followed.
 *   S2. It starts no earlier than it is told: whoever goes on with a run is not earlier than it.
 */

/** The two clocks of a machine, in milliseconds. */
export interface Clocks {
  /** The time of day, which people and programs set. */
  wall(): number;
  /** Counts up, whatever happens to the other one. */
  passing(): number;
}

export const MACHINE: Clocks = { wall: () => Date.now(), passing: () => performance.now() };

export class SteadyClock {
  readonly #clocks: Clocks;
  #now: number;
  #wall: number;
  #passing: number;

  constructor(notBefore: number, clocks: Clocks = MACHINE) {
    this.#clocks = clocks;
    this.#wall = clocks.wall();
    this.#passing = clocks.passing();
    this.#now = Math.max(this.#wall, notBefore);
  }

  /** The time now; whole milliseconds. */
  now(): number {
    const wall = this.#clocks.wall();
    const passing = this.#clocks.passing();
    const walked = wall - this.#wall;
    this.#now += walked >= 0 ? walked : Math.max(0, passing - this.#passing);
    this.#wall = wall;
    this.#passing = passing;
    return Math.round(this.#now);
  }
}
