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

test('without secrets a text stays as it is', () => {
  expect(masker([])('nothing to hide')).toBe('nothing to hide');
});
