import { expect, test } from 'vitest';
import { excerpt } from './excerpt.ts';

test('a short output stays as it is', () => {
  expect(excerpt('\none\ntwo\n', 100)).toBe('one\ntwo');
});

test('of a long one the lines that speak of a failure stay, and the end', () => {
  const noise = Array.from({ length: 3_000 }, (_, at) => `ok ${at}`);
  noise[7] = 'not ok 7: login';
  noise[1_500] = 'TypeError: user is undefined';
  const text = excerpt(`${noise.join('\n')}\n1 of 3000 failed`, 600);
  const lines = text.split('\n');
  expect(lines.slice(0, 4)).toEqual([
    '[… 7 lines …]',
    'not ok 7: login',
    expect.stringMatching(/^\[… \d+ lines …\]$/),
    'TypeError: user is undefined',
  ]);
  expect(lines.at(-1)).toBe('1 of 3000 failed');
  expect(text.length).toBeLessThan(700);
});

test('one endless line does not get through', () => {
  expect(excerpt('x'.repeat(1_000_000), 6_000).length).toBeLessThan(6_000);
});
