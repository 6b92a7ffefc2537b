/** The workspaces that candidates are verified in: taken, given back, and gone with their run. */

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openGateWorkspace } from '../../src/merge/gate-workspace.ts';
import { removeRunFolder } from '../../src/workspace/remove.ts';
import { testGround } from '../support/ground.ts';
import { testPool } from '../support/pool.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('more of them than gates may run at a time, where some end slowly, are gone with their run', async () => {
  await using repo = await tempRepo();
  const ground = await testGround(repo, {}, { pool: testPool(repo, 0) });
  const commit = await repo.git('rev-parse', 'HEAD');
  const many = ground.plan.limits.gates + 2;
  const open = await Promise.all(
    Array.from({ length: many }, () => openGateWorkspace(ground, commit, repo.signal)),
  );
  expect(new Set(open.map(({ dir }) => dir)).size).toBe(many);
  for (const gate of open) gate[Symbol.dispose]();
  await removeRunFolder(ground, repo.signal);
  expect(open.filter(({ dir }) => existsSync(dir))).toEqual([]);
  expect(await repo.git('worktree', 'list')).not.toContain('.gate-');
});
