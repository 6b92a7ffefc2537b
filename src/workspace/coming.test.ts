/** When a workspace that may come is waited for, and for how long. */

import { expect, test, vi } from 'vitest';
import { Coming } from './coming.ts';

test('nobody waits where nothing comes, or where a new one costs nothing yet', async () => {
  const coming = new Coming();
  expect(await coming.next()).toBe(false);
  coming.add('/one');
  expect(await coming.next()).toBe(false);
  coming.learn(1_000);
  coming.delete('/one');
  expect(await coming.next()).toBe(false);
});

test('where all were there already, what a new one costs is guessed by its files', async () => {
  const coming = new Coming();
  coming.guess(1_000_000);
  coming.add('/one');
  const waited = coming.next();
  coming.delete('/one');
  expect(await waited).toBe(true);
  coming.learn(0);
  coming.guess(1_000_000);
  coming.add('/one');
  expect(await coming.next()).toBe(false);
});

test('whoever waits looks again as soon as one is free, or is worked in again', async () => {
  const coming = new Coming();
  coming.learn(60_000);
  coming.add('/one');
  const [first, second] = [coming.next(), coming.next()];
  coming.delete('/one');
  expect(await Promise.all([first, second])).toEqual([true, true]);
  expect(await coming.next()).toBe(false);
});

test('one that does not come is given up after what a new one costs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const coming = new Coming();
    coming.learn(100);
    coming.add('/one');
    const waited = coming.next();
    await vi.advanceTimersByTimeAsync(101);
    expect(await waited).toBe(true);
    expect(await coming.next()).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});
