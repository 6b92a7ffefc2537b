import { expect, test } from 'vitest';
import { SteadyClock } from './steady-clock.ts';

const HOUR = 3_600_000;

function machine() {
  const at = { wall: 10 * HOUR, passing: 500 };
  const clock = (notBefore = 0) =>
    new SteadyClock(notBefore, { wall: () => at.wall, passing: () => at.passing });
  const pass = (ms: number) => {
    at.wall += ms;
    at.passing += ms;
  };
  return { at, clock, pass };
}

test('it is the time of day, as long as nobody sets that', () => {
  const { clock, pass } = machine();
  const steady = clock();
  pass(1_500);
  expect(steady.now()).toBe(10 * HOUR + 1_500);
});

test('set back by hours it goes on from where it was', () => {
  const { at, clock, pass } = machine();
  const steady = clock();
  pass(1_000);
  steady.now();
  at.wall -= 5 * HOUR;
  at.passing += 200;
  expect(steady.now()).toBe(10 * HOUR + 1_200);
  pass(300);
  expect(steady.now()).toBe(10 * HOUR + 1_500);
});

test('set forward, or after a night asleep, it is the time of day again', () => {
  const { at, clock } = machine();
  const steady = clock();
  at.wall += 8 * HOUR;
  expect(steady.now()).toBe(18 * HOUR);
});

test('it starts no earlier than what has been recorded', () => {
  const { clock, pass } = machine();
  const steady = clock(12 * HOUR);
  expect(steady.now()).toBe(12 * HOUR);
  pass(1_000);
  expect(steady.now()).toBe(12 * HOUR + 1_000);
});
