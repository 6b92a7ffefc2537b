/** Words of a shell, as texts. */

import { expect, test } from 'vitest';
import { quoted, shellWord } from './shell-word.ts';

test('a word of a shell keeps every character', () => {
  expect(quoted(`a'b"c$d\n`)).toBe(`'a'\\''b"c$d\n'`);
});

test('a word is quoted where a shell would read it otherwise', () => {
  const plain = ['landfast/r1.users', '-x', '@scope/name', 'a=b'];
  expect(plain.map(shellWord)).toEqual(plain);
  expect(shellWord("it's $(x)")).toBe("'it'\\''s $(x)'");
  expect(shellWord('')).toBe("''");
  expect(shellWord('=ls')).toBe("'=ls'");
});
