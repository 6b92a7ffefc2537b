/** What is kept of what was put in last. */

import { expect, test } from 'vitest';
import { Recent } from './recent.ts';

const kept = (recent: Recent<string, string>): string =>
  ['a', 'b', 'c', 'd'].filter((key) => recent.get(key) !== undefined).join('');

test('the oldest goes when there are too many', () => {
  const recent = new Recent<string, string>(2);
  for (const key of ['a', 'b', 'c']) recent.set(key, key);
  expect(kept(recent)).toBe('bc');
});

test('one that is put in again is young, and counts once', () => {
  const recent = new Recent<string, string>(2);
  for (const key of ['a', 'b', 'a', 'c']) recent.set(key, key);
  expect(kept(recent)).toBe('ac');
});

test('as many go as weigh too much, but never the last one', () => {
  const recent = new Recent<string, string>(6, ({ length }) => length);
  recent.set('a', '12');
  recent.set('b', '12');
  recent.set('c', '1234');
  expect(kept(recent)).toBe('bc');
  recent.set('d', '1234567');
  expect(kept(recent)).toBe('d');
  recent.delete('d');
  recent.set('a', '123456');
  expect(kept(recent)).toBe('a');
});
