/** A time of day that other times are compared with, as long as nobody sets the clock back. */

import { type Clocks, MACHINE } from './steady-clock.ts';

export interface Moment {
  /** In milliseconds, as `Date.now()`. */
  readonly at: number;
  /** How far the time of day was ahead of the clock that only counts up, when this was noted. */
  readonly ahead: number;
}

/** Both clocks are read one after the other, and one of them counts whole milliseconds. */
const LATE_MS = 10;

/** Notes a moment that has passed. One that is still to come was told by a clock that is wrong. */
export function momentOf(at: number, clocks = MACHINE): Moment {
  return { at, ahead: clocks.wall() < at ? Number.POSITIVE_INFINITY : aheadOf(clocks) };
}

/** Whether the clock was set back since a moment was noted: what came later may seem earlier. */
export function isSetBack({ at, ahead }: Moment, clocks = MACHINE): boolean {
  return clocks.wall() < at || aheadOf(clocks) < ahead - LATE_MS;
}

function aheadOf({ wall, passing }: Clocks): number {
  return wall() - passing();
}
