/** Moments: whether the clock was set back since. */

import { expect, test } from 'vitest';
import { isSetBack, momentOf } from './steady-clock.ts';

const clocks = (wall: number, passing: number) => ({ wall: () => wall, passing: () => passing });

test.each([
  ['time passes', 1_500, 5_500, false],
  ['the clock is set forward, or the machine slept', 9_000, 5_500, false],
  ['the clock is set back', 1_100, 5_500, true],
  ['the clock is set back behind the moment', 900, 5_500, true],
  ['the clocks were not read in the same millisecond', 1_495, 5_500, false],
])('%s', (_, wall, passing, expected) => {
  const moment = momentOf(1_000, clocks(1_000, 5_000));
  expect(isSetBack(moment, clocks(wall, passing))).toBe(expected);
});

test('by the clocks of this machine it was not', () => {
  expect(isSetBack(momentOf(Date.now()))).toBe(false);
});

test('a moment that was still to come when it was noted is never trusted', () => {
  const moment = momentOf(1_000, clocks(900, 5_000));
  expect(isSetBack(moment, clocks(2_000, 6_100))).toBe(true);
});
