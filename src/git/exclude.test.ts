/** The text of the exclude file and its patterns. */

import { expect, test } from 'vitest';
import { literalPattern, withPatterns } from './exclude.ts';

test('a block is added after what is there, and grows in place', () => {
  const first = withPatterns('*.log', ['/.env', '/a']);
  expect(first).toBe(
    '*.log\n# landfast: begin (added automatically)\n/.env\n/a\n# landfast: end\n',
  );
  expect(withPatterns(`${first}*.tmp\n`, ['/a', '/b'])).toBe(
    '*.log\n# landfast: begin (added automatically)\n/.env\n/a\n/b\n# landfast: end\n*.tmp\n',
  );
});

test('patterns that are there already change nothing', () => {
  expect(withPatterns('', [])).toBe(null);
  expect(withPatterns(withPatterns('', ['/a']) ?? '', ['/a'])).toBe(null);
});

test('a path becomes a pattern for itself only', () => {
  expect(literalPattern('a b/.env')).toBe('/a b/.env');
  expect(literalPattern('[x]*?\\')).toBe('/\\[x\\]\\*\\?\\\\');
  expect(literalPattern('end  ')).toBe('/end\\ \\ ');
  expect(literalPattern('two\nlines')).toBe('/two?lines');
});
