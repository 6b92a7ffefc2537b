import { expect, test } from 'vitest';
import { conflictLine, conflictLines, conflictText } from './conflict.ts';

test.each([
  [{ path: 'a.ts', kind: 'content', lines: [[10, 14]] }, 'a.ts: both changed lines 10-14'],
  [{ path: 'a.ts', kind: 'content', lines: [[7, 7]] }, 'a.ts: both changed line 7'],
  [{ path: 'a.ts', kind: 'content' }, 'a.ts: both changed the same place'],
  [{ path: 'img.png', kind: 'binary' }, 'img.png: both changed a binary file'],
  [{ path: 'lib', kind: 'submodule' }, 'lib: submodule moved to two commits'],
  [{ path: 'x', kind: 'deleted-here' }, 'x: deleted here, changed there'],
] as const)('%j', (conflict, line) => {
  expect(conflictLine(conflict)).toBe(line);
});

test('a file of which nothing more is known is named', () => {
  const conflicts = [{ path: 'a', kind: 'binary' }] as const;
  expect(conflictLines({ files: ['a', 'b'], conflicts })).toEqual([
    'a: both changed a binary file',
    'b',
  ]);
});

test('a sentence holds five files and counts the rest', () => {
  expect(conflictText({ files: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] })).toBe(
    'a; b; c; d; e; and 2 more',
  );
});
