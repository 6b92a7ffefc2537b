/**
 * SteadyClock: the time of day for decisions, which never goes back. Moment: a time of day that is
 * comparable with others only until the clock is set back.
 *
 * - When the system's clock is set back, this one continues from where it was, so no wait gets
 *   longer. It follows a clock that is set forward, and a machine that slept.
 * - It starts at `notBefore` or later: a resumed run is never earlier than its last entry.
 */

/** The two clocks of a machine, in milliseconds. */
export interface Clocks {
  /** The time of day, which can be set. */
  wall(): number;
  /** Monotonic. */
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

  /** In whole milliseconds. */
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

export interface Moment {
  /** In milliseconds, as `Date.now()`. */
  readonly at: number;
  /** The time of day minus the monotonic clock when it was recorded. */
  readonly ahead: number;
}

/** The clocks are read one after the other, and one counts whole milliseconds. */
const LATE_MS = 10;

/** Records a past moment. One in the future came from a wrong clock. */
export function momentOf(at: number, clocks = MACHINE): Moment {
  return { at, ahead: clocks.wall() < at ? Number.POSITIVE_INFINITY : aheadOf(clocks) };
}

/** Whether the clock was set back since, so that later times may seem earlier. */
export function isSetBack({ at, ahead }: Moment, clocks = MACHINE): boolean {
  return clocks.wall() < at || aheadOf(clocks) < ahead - LATE_MS;
}

function aheadOf({ wall, passing }: Clocks): number {
  return wall() - passing();
}
