/** How many shells are made, used again and let go. */

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ShellPool } from '../../src/process/shell-pool.ts';
import { tempDir } from '../support/temp-dir.ts';

function poolIn(dir: string) {
  const made: string[] = [];
  const closed: string[] = [];
  const pool = new ShellPool(dir, async (path) => {
    made.push(path);
    return { isOver: false, path, close: async () => void closed.push(path) };
  });
  return { pool, made, closed };
}

test('those that are expected are made at once, and each is taken once', async () => {
  await using folder = await tempDir();
  const { pool, made } = poolIn(folder.path);
  const due = Array.from({ length: 5 }, () => pool.expect());
  expect(made).toHaveLength(5);
  for (const now of due) now();
  const taken = await Promise.all(Array.from({ length: 6 }, () => pool.take()));
  expect(new Set(taken).size).toBe(6);
  expect(made).toHaveLength(6);
});

test('an expectation that comes to nothing leaves no more than one behind', async () => {
  await using folder = await tempDir();
  const { pool, made, closed } = poolIn(folder.path);
  for (let nth = 0; nth < 40; nth += 1) pool.expect()();
  expect(made).toHaveLength(1);
  await pool.close();
  expect(closed).toEqual(made);
  expect(existsSync(folder.path)).toBe(false);
});

test('an idle one is expected enough', async () => {
  await using folder = await tempDir();
  const { pool, made } = poolIn(folder.path);
  await pool.give(await pool.take(), true);
  pool.expect();
  expect(made).toHaveLength(1);
  pool.expect();
  expect(made).toHaveLength(2);
});
