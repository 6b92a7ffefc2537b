/** The page on compatibility: it is up to date, no case is missing, and what it says is tested. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compatibilityPage, PAGE, shownBy } from '../scripts/compatibility.ts';
import { CASES } from './compat/cases.ts';

/** The cases as they are numbered: by tool the beginning of its ids, their digits and the last. */
const NUMBERED: readonly [string, string, number, number][] = [
  ['parallel-orchestra', 'PO-', 2, 80],
  ['cast-parallel', 'CP-', 2, 32],
  ['claude-code-orchestrator', 'C', 1, 58],
  ['claude-orchestra', 'R', 1, 47],
  ['cpo', 'P', 1, 73],
];

test('the page is what `node scripts/compatibility.ts` writes', () => {
  expect(readFileSync(join(import.meta.dirname, '..', PAGE), 'utf8')).toBe(compatibilityPage());
});

test.each(NUMBERED)('every case of %s is in its list, once and in order', (tool, ...ids) => {
  expect(CASES.get(tool)?.map(({ id }) => id)).toEqual(numbers(...ids));
});

test('every case that is not declined is the beginning of the name of a test', () => {
  const shown = shownBy();
  const cases = [...CASES.values()].flat().filter(({ verdict }) => verdict !== 'declined');
  expect(cases.filter(({ id }) => !shown.has(id)).map(({ id }) => id)).toEqual([]);
});

test('no test is named by a case that is declined or not there', () => {
  const cases = [...CASES.values()].flat().filter(({ verdict }) => verdict !== 'declined');
  const known = new Set(cases.map(({ id }) => id));
  expect([...shownBy().keys()].filter((id) => !known.has(id))).toEqual([]);
});

test('a fixed or declined case says how or why', () => {
  const cases = [...CASES.values()].flat().filter(({ verdict }) => verdict !== 'kept');
  expect(cases.filter(({ note = '' }) => note === '').map(({ id }) => id)).toEqual([]);
});

/** Every third number was never given to a case. */
function numbers(prefix: string, digits: number, last: number): readonly string[] {
  const all = Array.from({ length: last }, (_, i) => i + 1);
  return all.filter((n) => n % 3 !== 0).map((n) => `${prefix}${String(n).padStart(digits, '0')}`);
}
