import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { widthOf } from './width.ts';

test.each([
  'plain words',
  'a · b × c — d … ✓ ✗ ⊘ ↩ ↻ ○ ● ◍',
  '日本語',
  'e\u0301 and 👩‍👧‍👦',
  '\u001B[32mgreen\u001B[39m',
  '',
])('%j is as wide as its tables say', (text) => {
  expect(widthOf(text)).toBe(stringWidth(text));
});
