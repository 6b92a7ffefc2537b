/** Pauses: when they end. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pauses } from './pause.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const { signal } = new AbortController();

/** When a pause ends, in ms from now. */
async function endOf(paused: Promise<void>): Promise<number> {
  const began = performance.now();
  let isOver = false;
  void paused.then(() => {
    isOver = true;
  });
  for (;;) {
    await vi.advanceTimersByTimeAsync(1);
    if (isOver) return performance.now() - began;
  }
}

test('a pause ends together with the one before, where that ends earlier', async () => {
  const pause = pauses();
  void pause(100, signal);
  await vi.advanceTimersByTimeAsync(30);
  const second = pause(100, signal);
  expect(vi.getTimerCount()).toBe(1);
  expect(await endOf(second)).toBe(70);
  expect(await endOf(pause(100, signal))).toBe(100);
});

test('one that has to end before it has a timer of its own', async () => {
  const pause = pauses();
  void pause(100, signal);
  expect(await endOf(pause(20, signal))).toBe(20);
});

test('an aborted signal ends it, and the next one has begun anew', async () => {
  const pause = pauses();
  const stop = new AbortController();
  const first = pause(100, stop.signal);
  stop.abort();
  await first;
  await pause(100, stop.signal);
  expect(vi.getTimerCount()).toBe(0);
  expect(await endOf(pause(100, signal))).toBe(100);
});
