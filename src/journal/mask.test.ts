/** Masking, on texts alone. */

import { expect, test } from 'vitest';
import { masker } from './mask.ts';

test('every occurrence of every secret is replaced, the longest first', () => {
  const mask = masker(['abcd', 'abcd-efgh']);

  expect(mask('abcd-efgh, then abcd, then abcd-efgh')).toBe(
    '[MASKED], then [MASKED], then [MASKED]',
  );
});

test('a short key that was passed is masked, one or two characters are not', () => {
  expect(masker(['k3y', 'ab', ''])('k3y ab')).toBe('[MASKED] ab');
});

test('characters with a meaning in patterns are only themselves', () => {
  expect(masker(['a.c*(x)[y]{z}|^$\\'])('a.c*(x)[y]{z}|^$\\ abc')).toBe('[MASKED] abc');
});

test('a secret is also found inside a JSON string', () => {
  const secret = 'pass"word\\1';

  expect(masker([secret])(JSON.stringify({ secret }))).toBe('{"secret":"[MASKED]"}');
});

test('a secret of several lines is masked whole, and line by line where it is split up', () => {
  const mask = masker(['BEGIN KEY\nMIIEowIBAAKC\nEND']);

  expect(mask('BEGIN KEY\nMIIEowIBAAKC\nEND')).toBe('[MASKED]');
  expect(mask('MIIEowIBAAKC')).toBe('[MASKED]');
  expect(mask('the END')).toBe('the END');
});

/** Of two alphabets, with characters that addresses encode. */
const TOKEN = 'sk-\u00ffb+/~?: 9\u00fe\u00ff\u00ffend';
const base64 = (text: string) => Buffer.from(text).toString('base64');

test.each([
  ['base64', base64(TOKEN)],
  ['base64 for addresses', Buffer.from(TOKEN).toString('base64url')],
  ['hex', Buffer.from(TOKEN).toString('hex')],
  ['hex in capitals', Buffer.from(TOKEN).toString('hex').toUpperCase()],
  ['an address', encodeURIComponent(TOKEN)],
  ['an address in small letters', encodeURIComponent(TOKEN).replace(/%\w\w/g, lower)],
  ['a whole address', encodeURI(TOKEN)],
  ['a form', new URLSearchParams({ '': TOKEN }).toString().slice(1)],
  ['an address in an address', encodeURIComponent(encodeURIComponent(TOKEN))],
])('a secret is recognised in the form of %s', (_form, text) => {
  expect(text).not.toContain(TOKEN);
  expect(masker([TOKEN])(`<${text}>`)).toBe('<[MASKED]>');
});

function lower(text: string): string {
  return text.toLowerCase();
}

test.each([0, 1, 2, 3, 4])('it is found in base64 of a longer text, %d bytes in', (before) => {
  for (const after of ['', '\n', '\r\n', ' and more']) {
    const masked = masker([TOKEN])(base64(`${'u'.repeat(before)}${TOKEN}${after}`));
    const rest = Buffer.from(masked.replace('[MASKED]', ''), 'base64').toString('latin1');
    expect(masked).toContain('[MASKED]');
    expect(rest.length).toBeLessThanOrEqual(before + after.length + 1);
  }
});

test('a long secret is found where base64 and hex dumps break their lines', () => {
  const secret = Array.from({ length: 100 }, (_, at) => at.toString(36)).join('-');
  const mask = masker([secret]);
  const broken = (text: string, columns: number) =>
    text.match(RegExp(`.{1,${columns}}`, 'g')) ?? [];
  const lines = [
    ...broken(base64(secret), 76),
    ...broken(base64(secret), 64),
    ...broken(Buffer.from(secret).toString('hex'), 60),
  ];
  expect(lines.filter((line) => line.length >= 8 && mask(line) !== '[MASKED]')).toEqual([]);
});

test('the encodings of a very short secret are texts like any other', () => {
  expect(masker(['main'])(`main ${base64('main')} 6d61696e`)).toBe('[MASKED] bWFpbg== 6d61696e');
});

test('without secrets a text stays as it is', () => {
  expect(masker([])('nothing to hide')).toBe('nothing to hide');
});
