/** What a misspelt word was meant to be. */

import { expect, test } from 'vitest';
import { closest, editDistance } from './closest.ts';

test.each([
  ['promt', 'prompt'],
  ['pormpt', 'prompt'],
  ['Needs', 'needs'],
  ['writs', 'writes'],
  ['x', null],
  ['deadline', null],
])('%s is meant as %s', (word, expected) => {
  expect(closest(word, ['id', 'prompt', 'needs', 'writes'])).toBe(expected);
});

test.each([
  ['', 'abc', 3],
  ['abc', 'abc', 0],
  ['abc', 'acb', 1],
  ['kitten', 'sitting', 3],
])('%j and %j are %i apart', (a, b, expected) => {
  expect(editDistance(a, b)).toBe(expected);
});
