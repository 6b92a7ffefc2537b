/** How problems are told. */

import { expect, test } from 'vitest';
import { formatProblem, ProblemLog, quote } from './problem.ts';

test('a problem is one line that editors understand, and its remedy below', () => {
  const problem = { file: 'plan.yaml', line: 12, column: 5, severity: 'error' } as const;

  expect(formatProblem({ ...problem, message: 'no' })).toBe('plan.yaml:12:5: error: no');
  expect(formatProblem({ ...problem, message: 'no', remedy: 'do this\nor that' })).toBe(
    'plan.yaml:12:5: error: no\n  do this\n  or that',
  );
});

test('a quoted value is short and cannot move the cursor', () => {
  expect(quote('a\u001b[2Jb')).toBe('"a\\u001b[2Jb"');
  expect(quote('x'.repeat(100))).toBe(`"${'x'.repeat(59)}…"`);
});

test('problems come in the order of the text, and only errors fail', () => {
  const log = new ProblemLog('p');
  log.warning({ line: 2, column: 1 }, 'second');
  expect(log.failed).toBe(false);
  log.error({ line: 1, column: 9 }, 'first', 'fix it');

  expect(log.failed).toBe(true);
  expect(log.sorted()).toEqual([
    { file: 'p', line: 1, column: 9, message: 'first', remedy: 'fix it', severity: 'error' },
    { file: 'p', line: 2, column: 1, message: 'second', severity: 'warning' },
  ]);
});

test('beyond two hundred problems the rest is counted', () => {
  const log = new ProblemLog('p');
  for (let line = 1; line <= 250; line += 1) log.error({ line, column: 1 }, 'wrong');

  expect(log.sorted()).toHaveLength(201);
  expect(log.sorted().at(-1)?.message).toBe('and 50 more problems');
});
