/** The ground of a run in a test's repository, without an engine: workspaces come and go by hand. */

import { Suspension } from '../../src/base/suspension.ts';
import { git } from '../../src/git/git.ts';
import { openRepository } from '../../src/git/repository.ts';
import { openRunBranch } from '../../src/merge/run-branch.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Prepared } from '../../src/workspace/bring.ts';
import { createWorkspace } from '../../src/workspace/create.ts';
import type { Ground } from '../../src/workspace/ground.ts';
import { removeWorkspace } from '../../src/workspace/remove.ts';
import { planOf } from './journal-builder.ts';
import { bareEnv } from './landfast.ts';
import { MARK } from './mark.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from './no-memory.ts';
import { testPool } from './pool.ts';
import type { TempRepo } from './temp-repo.ts';

/** A run of tasks `one` to `four`, whose workspaces are prepared as said. */
export async function testGround(
  repo: TempRepo,
  workspace: Partial<Plan['workspace']>,
  more: Partial<Ground> = {},
): Promise<Ground> {
  const opened = await openRepository(repo.dir, repo.signal);
  if (opened.kind !== 'repository') throw new Error(opened.kind);
  const tasks = ['one', 'two', 'three', 'four'].map((id) => ({ id }));
  const plan = planOf(tasks, { gates: [] });
  const { keepFiles = [] } = workspace;
  const ground: Ground = {
    repository: opened.repository,
    run: 'r1',
    plan: { ...plan, workspace: { ...plan.workspace, ...workspace } },
    env: bareEnv(repo.outside),
    pool: testPool(repo, 4, { keepFiles, small: true }),
    suspension: new Suspension(),
    verdicts: NO_MEMORY,
    resolutions: NO_RESOLUTIONS,
    assertHeld: () => undefined,
    ...more,
  };
  await openRunBranch(ground, await repo.git('rev-parse', 'HEAD'), repo.signal);
  return ground;
}

export interface Opened {
  readonly dir: string;
  readonly setup: Prepared['how'] | null;
  /** Why what set-up made is no seed. */
  readonly why?: string;
}

/** The workspace of a task's attempt, at the head of `main`. */
export async function openTask(
  ground: Ground,
  task: string,
  attempt = 1,
  base = 'main',
): Promise<Opened> {
  const { signal } = new AbortController();
  const commit = await shaOf(ground, base);
  const order = { task, attempt, base: commit, start: { kind: 'fresh' }, mark: MARK } as const;
  const created = await createWorkspace(ground, order, signal);
  if (created.kind === 'failed') throw new Error(created.message);
  if (created.kind === 'stopped') throw new Error('stopped');
  const { dir, setup } = created;
  return {
    dir,
    setup: setup?.how ?? null,
    ...(setup?.why === undefined ? {} : { why: setup.why }),
  };
}

/** The task is done with its workspace. */
export async function closeTask(ground: Ground, task: string): Promise<void> {
  const { signal } = new AbortController();
  const safe = [await shaOf(ground, 'main')];
  await removeWorkspace(ground, { task, succeeded: true, safe }, signal);
}

async function shaOf(ground: Ground, name: string): Promise<string> {
  const { signal } = new AbortController();
  return (await git(ground.repository.dir, ['rev-parse', name], signal)).stdout.trim();
}
