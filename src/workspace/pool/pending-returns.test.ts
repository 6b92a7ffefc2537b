/** When a workspace that may come is waited for, and for how long. */

import { expect, test, vi } from 'vitest';
import { PendingReturns } from './pending-returns.ts';

test('there is no wait where nothing comes, or where a new one costs nothing yet', async () => {
  const pending = new PendingReturns();
  expect(await pending.next()).toBe(false);
  pending.add('/one');
  expect(await pending.next()).toBe(false);
  pending.learn(1_000);
  pending.delete('/one');
  expect(await pending.next()).toBe(false);
});

test('where all were there already, what a new one costs is guessed by its files', async () => {
  const pending = new PendingReturns();
  pending.guess(1_000_000);
  pending.add('/one');
  const waited = pending.next();
  pending.delete('/one');
  expect(await waited).toBe(true);
  pending.learn(0);
  pending.guess(1_000_000);
  pending.add('/one');
  expect(await pending.next()).toBe(false);
});

test('a waiter looks again as soon as one is free, or in use again', async () => {
  const pending = new PendingReturns();
  pending.learn(60_000);
  pending.add('/one');
  const [first, second] = [pending.next(), pending.next()];
  pending.delete('/one');
  expect(await Promise.all([first, second])).toEqual([true, true]);
  expect(await pending.next()).toBe(false);
});

test('one that does not come is given up after what a new one costs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const pending = new PendingReturns();
    pending.learn(100);
    pending.add('/one');
    const waited = pending.next();
    await vi.advanceTimersByTimeAsync(101);
    expect(await waited).toBe(true);
    expect(await pending.next()).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});
