/** Run ids. */

import { expect, test } from 'vitest';
import { newRunId } from './names.ts';

test('an id tells the time, and one that is taken is not given again', () => {
  const refused: string[] = [];
  const isTaken = (id: string): boolean => refused.push(id) <= 3;
  const id = newRunId(new Date('2026-02-03T04:05:06.789Z'), isTaken);
  expect(id).toMatch(/^20260203-040506-[a-z2-9]{3}$/);
  expect(refused).toHaveLength(4);
  expect(refused.at(-1)).toBe(id);
});
