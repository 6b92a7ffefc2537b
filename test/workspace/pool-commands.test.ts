/** What the commands say of worktrees that wait, and what they do with them. */

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { testPool } from '../support/pool.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

interface Row {
  readonly path: string;
}

const byPath = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => (a.path < b.path ? -1 : 1));

test('they are listed and cleaned up, and what a person has put there is kept', async () => {
  await using repo = await tempRepo();
  const run = async (...args: readonly string[]) =>
    JSON.parse((await landfast([...args, '--json'], { cwd: repo.dir })).stdout);
  const at = (nth: number): string => join(testPool(repo, 4).place.folder, `${nth}`);
  const warmed = await run('pool', 'warm', '3');
  expect(byPath(warmed.workspaces)).toMatchObject(
    [1, 2, 3].map((nth) => ({ path: at(nth), state: 'idle', at_head: true, files: 1 })),
  );
  writeFileSync(join(at(2), 'new.txt'), 'precious\n');
  rmSync(at(3), { recursive: true });
  const drain = 'landfast pool drain';
  const none = { kind: 'idle', run: null, task: null, unmerged: null, resume: null };
  expect(byPath(await run('worktrees'))).toMatchObject([
    { path: at(1), state: 'idle', why: 'ready for the next task', remove: drain, ...none },
    { path: at(2), state: 'idle', remove: drain },
    { path: at(3), state: 'gone', remove: `git worktree remove ${at(3)}` },
  ]);
  expect((await run('cleanup', '--yes')).removed).toEqual([at(3)]);
  expect((await run('cleanup', '--yes', '--older-than', '1h')).removed).toEqual([]);
  expect((await run('cleanup', '--yes', '--all')).removed.toSorted()).toEqual([at(1), at(2)]);
  const ref = await repo.git('for-each-ref', '--format=%(refname)', 'refs/landfast/kept');
  expect(await repo.git('show', `${ref}:new.txt`)).toBe('precious');
  expect(await run('worktrees')).toEqual([]);
  expect(existsSync(`${repo.dir}.worktrees`)).toBe(false);
});

test('workspaces made ahead are used by a run, stay after it, and can be released', async () => {
  await using repo = await tempRepo();
  const run = (...args: readonly string[]) => landfast(args, { cwd: repo.dir });
  expect(await run('pool', 'warm', '3')).toMatchObject({ code: 0 });
  const tasks = { one: 'echo 1 > one', two: 'echo 1 > two' };
  expect(await runPlan(repo, { workers: 2, tasks })).toMatchObject({ code: 0 });
  expect(testPool(repo, 4).idle()).toHaveLength(3);
  const drained = await run('pool', 'drain');
  expect(drained).toMatchObject({ code: 0, stdout: 'Removed: 3 workspaces, 0 seeds.\n' });
  expect(await repo.git('worktree', 'list')).not.toContain('landfast.pool');
});
