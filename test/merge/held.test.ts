/** An engine that another one has taken its run from: whatever it was about to do, it does nothing. */

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LeaseLostError } from '../../src/journal/lease.ts';
import { deliverWork } from '../../src/merge/deliver.ts';
import { landCandidates, mergeWork } from '../../src/merge/land.ts';
import { publish } from '../../src/merge/publish.ts';
import { closeRunBranch } from '../../src/merge/run-branch.ts';
import type { MergeEffect } from '../../src/model/effect.ts';
import type { Event } from '../../src/model/event.ts';
import { createWorkspace } from '../../src/workspace/create.ts';
import { judgeWork } from '../../src/workspace/judge.ts';
import { removeWorkspace } from '../../src/workspace/remove.ts';
import { JournalBuilder } from '../support/journal-builder.ts';
import { MARK } from '../support/mark.ts';
import { testContext } from '../support/run-context.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const lost = (): never => {
  throw new LeaseLostError('r1');
};

const refs = (repo: TempRepo): Promise<string> => repo.git('for-each-ref');

test('it moves neither the branch of the run nor the target, nor delivers a branch', async () => {
  await using repo = await tempRepo();
  const { signal } = repo;
  const context = { ...(await testContext(repo, {})), assertHeld: lost };
  const onto = await repo.git('rev-parse', 'main');
  const work = await repo.commit('work', { 'a.txt': 'a\n' });
  const before = await refs(repo);
  const facts: Event[] = [];
  const report = (fact: Event): number => facts.push(fact);
  const merge: MergeEffect = {
    kind: 'merge',
    ...{ task: 'one', commit: work, onto, base: null, ahead: null, lands: true, landedSince: [] },
    ...{ teaches: false, credit: { by: null, costUsd: 0 } },
  };
  await mergeWork(context, merge, report, signal);
  await deliverWork(context, merge, report, signal);
  const landed = [{ task: 'one', work, onto, commit: work }];
  const published = { base: onto, head: work, target: 'main', landed, untold: [] };
  await publish(context, { kind: 'publish', ...published }, report, signal);
  const candidates = [{ task: 'one', commit: work }];
  const landing = landCandidates(context, { kind: 'land', onto, candidates, teachers: [] }, report);
  await expect(landing).rejects.toThrow(LeaseLostError);

  expect(await refs(repo)).toBe(before);
  const types = ['merge.rejected', 'merge.rejected', 'publish.blocked'];
  expect(facts.map(({ type }) => type)).toEqual(types);
  expect(existsSync(join(repo.dir, 'a.txt'))).toBe(false);
});

test('it commits nothing in a workspace, and removes neither that nor a branch', async () => {
  await using repo = await tempRepo();
  const { signal } = repo;
  const context = await testContext(repo, {});
  const base = await repo.git('rev-parse', 'main');
  const order = { task: 'one', attempt: 1, base, start: { kind: 'fresh' }, mark: MARK } as const;
  const created = await createWorkspace(context, order, signal);
  if (created.kind !== 'ready') throw new Error(created.kind);
  const { dir } = created;
  const before = await refs(repo);
  const fenced = { ...context, assertHeld: lost };
  const release = { task: 'one', succeeded: true, safe: [base] };
  await expect(removeWorkspace(fenced, release, signal)).rejects.toThrow(LeaseLostError);
  await writeFile(join(dir, 'b.txt'), 'b\n');
  const [task] = context.plan.tasks;
  const work = { task: task!, dir, base, mark: MARK, mended: false };
  await expect(judgeWork(fenced, work, signal)).rejects.toThrow(LeaseLostError);
  const state = new JournalBuilder([{ id: 'one' }]).state();
  await expect(closeRunBranch(fenced, state, signal)).rejects.toThrow(LeaseLostError);

  expect(await refs(repo)).toBe(before);
  expect(existsSync(join(dir, 'b.txt'))).toBe(true);
  expect(await judgeWork(context, work, signal)).toMatchObject({ kind: 'good', files: ['b.txt'] });
});
