import { expect, test } from 'vitest';
import type { Difference } from '../../git/diff.ts';
import { overlap } from './overlap.ts';

const changes = (given: Record<string, Difference>) => new Map(Object.entries(given));

test('changes of different files do not meet, whatever folder they are in', () => {
  const a = changes({ 'src/a.ts': 'changed', 'src/n.ts': 'added' });
  const b = changes({ 'src/b.ts': 'changed', 'src/m.ts': 'added' });
  expect(overlap(a, b)).toBe(0);
});

test('the same file is counted once for each path', () => {
  const a = changes({ x: 'changed', y: 'deleted', z: 'added' });
  const b = changes({ x: 'changed', y: 'changed', w: 'added' });
  expect([overlap(a, b), overlap(b, a)]).toEqual([2, 2]);
});

test('a file where the other has a folder meets it', () => {
  const a = changes({ docs: 'added' });
  const b = changes({ 'docs/deep/page.md': 'added' });
  expect([overlap(a, b), overlap(b, a)]).toEqual([1, 1]);
});

test('a file that is added below a folder which the other empties meets it', () => {
  const a = changes({ 'old/x.ts': 'deleted', 'new/x.ts': 'added' });
  const b = changes({ 'old/sub/y.ts': 'added' });
  expect([overlap(a, b), overlap(b, a)]).toEqual([1, 1]);
  expect(overlap(a, changes({ 'elsewhere/y.ts': 'added' }))).toBe(0);
});
