import { expect, test } from 'vitest';
import { availableMemory, loadPerCore, memoryIn } from './machine-load.ts';

test('memory that could be had is read in bytes, and what is not told is not guessed', () => {
  const text =
    'MemTotal:       16000000 kB\nMemFree:          200000 kB\nMemAvailable:    9000000 kB\n';
  expect(memoryIn(text)).toBe(9_000_000 * 1_024);
  expect(memoryIn('MemTotal: 16000000 kB\n')).toBeNull();
  expect(memoryIn('')).toBeNull();
});

test.runIf(process.platform === 'linux')('this machine tells both', async () => {
  expect(await availableMemory(AbortSignal.timeout(10_000))).toBeGreaterThan(0);
  expect(loadPerCore()).toBeGreaterThanOrEqual(0);
});
