import { expect, test } from 'vitest';
import { room, size } from './values.ts';

test.each([
  ['10GB', 10_000_000_000],
  ['512MiB', 536_870_912],
  ['1.5 kB', 1_500],
  ['7B', 7],
  ['2tb', 2_000_000_000_000],
  [0, 0],
  [1024, 1_024],
])('%s is a size', (text, bytes) => {
  expect(size.parse(text)).toBe(bytes);
});

test.each(['10', 'GB', '-1GB', '1e3B', '5XB', true, null, 1.5, -1, '99999999TB'])(
  '%s is no size',
  (given) => {
    expect(size.safeParse(given).success).toBe(false);
  },
);

test('a limit of nothing is no limit that anybody can keep', () => {
  expect(room.safeParse(0).success).toBe(false);
  expect(room.parse('1GB')).toBe(1_000_000_000);
});
