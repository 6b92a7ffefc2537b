/** No text from outside reaches a screen alive. */

import { expect, test } from 'vitest';
import { HOSTILE } from '../../test/support/runs.ts';
import { brief, clean, shellWord, tail } from './sanitize.ts';

const CONTROL = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

test('whole escape sequences go, and the text between them stays', () => {
  expect(clean(HOSTILE)).toBe('red  | pipe ``` ````` # head <b> tfel');
  expect(clean('\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1bPq#0\x1b\\end')).toBe('link end');
});

test('pieces of sequences cannot join to a new one', () => {
  expect(clean('\x1b\x1b[31m[31mred')).toBe('[31mred');
  expect(clean('\x9b\x9b2J2J')).not.toMatch(CONTROL);
});

test('every control character alone is removed or becomes a blank', () => {
  const all = Array.from({ length: 0xa0 }, (_, code) => `a${String.fromCharCode(code)}`).join('');
  expect(clean(all)).not.toMatch(CONTROL);
  expect(tail(all, 1000)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
});

test('a text that only begins sequences takes linear time', () => {
  const started = performance.now();
  for (const start of ['\x1b]', '\x1b[', '\x9d', '\x9b0', '\x1bP0 ']) clean(start.repeat(100_000));
  expect(performance.now() - started).toBeLessThan(2000);
});

test('brief cuts between characters, not inside of them', () => {
  expect(brief('👍👍👍👍', 3)).toBe('👍👍…');
  expect(brief('  two\n\n words ', 20)).toBe('two words');
  expect(brief('x'.repeat(10_000), 5)).toBe('xxxx…');
  expect(brief('\ud800', 5)).toBe('\ufffd');
});

test('tail keeps the last lines and says that there were more', () => {
  expect(tail('a\r\nb\rc\n', 5)).toBe('a\nb\nc');
  expect(tail('a\nb\nc', 2)).toBe('…\nb\nc');
  expect(tail('x'.repeat(100), 2, 10)).toBe(`…\n${'x'.repeat(10)}`);
});

test('a word of a shell can be copied from the screen', () => {
  expect(shellWord('landfast/r1.users')).toBe('landfast/r1.users');
  expect(shellWord("it's \x1b[31m$(x)")).toBe("'it'\\''s $(x)'");
});
