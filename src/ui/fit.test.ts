/** Cutting by columns. */

import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { inkOf } from './color.ts';
import { cut, fitLine, pad } from './fit.ts';

const TEXTS = [
  'plain',
  '日本語のテスト',
  '👩‍👩‍👧‍👦👍🏽 family',
  'a\u0301'.repeat(50),
  '',
  'é'.repeat(200),
];

test.each(TEXTS)('what is cut or padded is as wide as asked: %s', (text) => {
  for (let width = 0; width < 30; width += 1) {
    expect(stringWidth(cut(text, width))).toBeLessThanOrEqual(width);
    expect(stringWidth(pad(text, width))).toBe(width);
  }
});

test('a wide character is not cut in half', () => {
  expect([cut('日本語', 6), cut('日本語', 5), cut('日本語', 4), cut('日本語', 1)]).toEqual([
    '日本語',
    '日本…',
    '日…',
    '…',
  ]);
});

test('a character with ten thousand marks is bounded', () => {
  expect(cut(`a${'\u0301'.repeat(10_000)}b`, 10).length).toBeLessThan(200);
});

test('spans are cut as one line and their styles are closed', () => {
  const spans = [{ text: 'ab', style: 'good' }, { text: 'cdef' }, { text: 'x' }] as const;
  expect(fitLine(spans, 5, inkOf(false).paint)).toBe('abcd…');
  expect(fitLine(spans, 7, inkOf(true).paint)).toBe('\x1b[32mab\x1b[39mcdefx');
});
