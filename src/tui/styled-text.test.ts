/** Cutting by columns. */

import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { cut, cutMiddle, fitLine, inkOf, pad, wantsColor, widthOf } from './styled-text.ts';

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
    expect(stringWidth(cutMiddle(text, width))).toBeLessThanOrEqual(width);
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

test('a name cut in the middle keeps its beginning and its end', () => {
  expect(cutMiddle('users-table-alpha', 11)).toBe('users…alpha');
  expect(cutMiddle('users-table-alpha', 17)).toBe('users-table-alpha');
  expect(cutMiddle('日本語のテスト', 7)).toBe('日本…ト');
});

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ TERM: 'dumb' }, true, false],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
])('%j on a terminal (%s) gives colours: %s', (env, isTty, wanted) => {
  expect(wantsColor(env, isTty)).toBe(wanted);
});

test('without colours the text is untouched', () => {
  expect(inkOf(false).paint('bad', 'x')).toBe('x');
  expect(inkOf(true).paint('bad', 'x')).toBe('\x1b[31mx\x1b[39m');
});

test.each([
  'plain words',
  'a · b × c — d … ✓ ✗ ⊘ ↩ ↻ ○ ● ◍ █ ▒ ░',
  '日本語',
  'e\u0301 and 👩‍👧‍👦',
  '\u001B[32mgreen\u001B[39m',
  '',
])('%j is as wide as its tables say', (text) => {
  expect(widthOf(text)).toBe(stringWidth(text));
});
