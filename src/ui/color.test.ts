/** When to colour, and how. */

import { expect, test } from 'vitest';
import { inkOf, wantsColor } from './color.ts';

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ TERM: 'dumb' }, true, false],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
])('%j on a terminal (%s) gives colours: %s', (env, isTty, wanted) => {
  expect(wantsColor(env, isTty)).toBe(wanted);
});

test('without colours the text is untouched', () => {
  expect(inkOf(false).paint('bad', 'x')).toBe('x');
  expect(inkOf(true).paint('bad', 'x')).toBe('\x1b[31mx\x1b[39m');
});
