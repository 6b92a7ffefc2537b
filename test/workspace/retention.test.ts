/** Which worktrees stay for a later run, and which do not although there is room. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { staying, WORTH_KEEPING_FILES } from '../../src/workspace/pool/pool.ts';
import { testPool } from '../support/pool.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

const NOTE = { commit: '', run: 'r1', at: 0, files: 10, bytes: 0, asked: false, kept: [] };
const LARGE = { files: WORTH_KEEPING_FILES };

/** Their numbers, the one that became idle last first. */
const staysOf = (notes: readonly object[], place: { later: number; small: boolean }) => [
  ...staying(
    notes.map((note, nth) => ({ path: `/none/${nth}`, note: { ...NOTE, ...note } })),
    place,
  ),
];

test('the last ones stay where that is worth it, and those that were asked for', () => {
  const asked = { asked: true };
  const few = { later: 2, small: false };
  expect(staysOf([LARGE, {}, LARGE, LARGE], few)).toEqual(['/none/0', '/none/2']);
  expect(staysOf([{}, {}, asked, asked, asked], few)).toEqual(['/none/2', '/none/3', '/none/4']);
  expect(staysOf([LARGE, LARGE, asked], few)).toEqual(['/none/2', '/none/0']);
  const told = { later: 2, small: true }; // The user has said how many.
  expect(staysOf([{}, {}, asked, asked], told)).toEqual(['/none/0', '/none/1']);
  expect(staysOf([LARGE, asked], { later: 0, small: true })).toEqual([]);
});

test.runIf(existsSync('/proc/self/cwd'))(
  'one in which a process works does not stay, and the process is left alone',
  async () => {
    await using temp = await tempDir();
    await temp.write({ '1/below/x': '', '10/x': '', '2/x': '' });
    const child = spawn('sleep', ['300'], { cwd: join(temp.path, '1', 'below') });
    try {
      await once(child, 'spawn');
      const idle = ['1', '10', '2'].map((name) => ({ path: join(temp.path, name), note: NOTE }));
      const stays = staying(idle, { later: 8, small: true });
      expect([...stays]).toEqual([join(temp.path, '10'), join(temp.path, '2')]);
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    } finally {
      child.kill('SIGKILL');
    }
  },
);

test('a requested workspace stays after a task has used it, others are removed', async () => {
  await using repo = await tempRepo();
  const commit = await repo.git('rev-parse', 'HEAD');
  const pool = testPool(repo, 4, { later: 0 });
  await testPool(repo, 4).add(commit, repo.signal);
  const dir = join(repo.outside, 'one');
  expect(await pool.take({ dir, commit, branch: null, owner: null }, repo.signal)).toBe(true);
  await pool.put(dir, { commit, bare: true, flagged: false }, repo.signal);
  await pool.settle(repo.signal);
  expect(pool.idle()).toMatchObject([{ path: join(pool.place.folder, '1') }]);
});
