/** The workspaces that candidates are verified in: taken, given back, and gone with their run. */

import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { openGateWorkspace } from '../../src/merge/gate-workspace.ts';
import { runGateOn } from '../../src/merge/gates.ts';
import { removeRunFolder } from '../../src/workspace/remove.ts';
import { testPool } from '../support/pool.ts';
import { testContext } from '../support/run-context.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('more of them than gates may run at a time, where some end slowly, are gone with their run', async () => {
  await using repo = await tempRepo();
  const context = await testContext(repo, {}, { pool: testPool(repo, 0) });
  const commit = await repo.git('rev-parse', 'HEAD');
  const many = context.plan.limits.gates + 2;
  const open = await Promise.all(
    Array.from({ length: many }, () => openGateWorkspace(context, commit, repo.signal)),
  );
  expect(new Set(open.map(({ dir }) => dir)).size).toBe(many);
  for (const gate of open) gate[Symbol.dispose]();
  await removeRunFolder(context, repo.signal);
  expect(open.filter(({ dir }) => existsSync(dir))).toEqual([]);
  expect(await repo.git('worktree', 'list')).not.toContain('.gates');
});

test('two looks at the same time have a workspace each until they end', async () => {
  await using repo = await tempRepo();
  const places = join(repo.outside, 'places');
  // Each waits until the other one is there.
  const run = `pwd >> ${places}; until [ "$(wc -l < ${places})" -ge 2 ]; do sleep 0.01; done`;
  const context = await testContext(repo, {});
  const gates = [{ name: 'tests', run, timeoutMs: 60_000 }];
  const gated = { ...context, plan: { ...context.plan, gates } };
  const commit = await repo.git('rev-parse', 'HEAD');
  const look = (task: string) =>
    runGateOn(gated, { task, commit, gate: 'tests', on: 'base' }, () => undefined, repo.signal);
  expect(await Promise.all([look('one'), look('two')])).toMatchObject([
    { kind: 'green' },
    { kind: 'green' },
  ]);
  const used = readFileSync(places, 'utf8').trim().split('\n');
  expect(used.map((place) => basename(place)).sort()).toEqual(['gate-0', 'gate-1']);
});
