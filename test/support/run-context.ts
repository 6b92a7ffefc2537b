/** The context of a run in a test's repository, without an engine: workspaces come and go by hand. */

import { git } from '../../src/git/git.ts';
import { openRepository } from '../../src/git/repository.ts';
import { openRunBranch } from '../../src/merge/run-branch.ts';
import type { Plan } from '../../src/model/plan.ts';
import { createWorkspace } from '../../src/workspace/create.ts';
import type { SetupDone } from '../../src/workspace/prepare.ts';
import { removeWorkspace } from '../../src/workspace/remove.ts';
import { type RunContext, type RunParts, runContext } from '../../src/workspace/run-context.ts';
import { planOf } from './journal-builder.ts';
import { bareEnv } from './landfast.ts';
import { MARK, RUN } from './mark.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from './no-memory.ts';
import { testPool } from './pool.ts';
import type { TempRepo } from './temp-repo.ts';

/** A run of tasks `one` to `four`, whose workspaces are prepared as said. */
export async function testContext(
  repo: TempRepo,
  workspace: Partial<Plan['workspace']>,
  more: Partial<RunParts> = {},
): Promise<RunContext> {
  const opened = await openRepository(repo.dir, repo.signal);
  if (opened.kind !== 'repository') throw new Error(opened.kind);
  const tasks = ['one', 'two', 'three', 'four'].map((id) => ({ id }));
  const plan = planOf(tasks, { gates: [] });
  const { keepFiles = [] } = workspace;
  const context = runContext({
    repository: opened.repository,
    run: RUN,
    plan: { ...plan, workspace: { ...plan.workspace, ...workspace } },
    env: bareEnv(repo.outside),
    pool: testPool(repo, 4, { keepFiles, small: true }),
    verdicts: NO_MEMORY,
    resolutions: NO_RESOLUTIONS,
    assertHeld: () => undefined,
    ...more,
  });
  await openRunBranch(context, await repo.git('rev-parse', 'HEAD'), repo.signal);
  return context;
}

export interface Opened {
  readonly dir: string;
  readonly setup: SetupDone['how'] | null;
  /** Why what set-up made is no seed. */
  readonly why?: string;
}

/** The workspace of a task's attempt, at the head of `main`. */
export async function openTask(
  context: RunContext,
  task: string,
  attempt = 1,
  base = 'main',
): Promise<Opened> {
  const { signal } = new AbortController();
  const commit = await shaOf(context, base);
  const order = { task, attempt, base: commit, start: { kind: 'fresh' }, mark: MARK } as const;
  const created = await createWorkspace(context, order, signal);
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
export async function closeTask(context: RunContext, task: string): Promise<void> {
  const { signal } = new AbortController();
  const safe = [await shaOf(context, 'main')];
  await removeWorkspace(context, { task, succeeded: true, safe }, signal);
}

async function shaOf(context: RunContext, name: string): Promise<string> {
  const { signal } = new AbortController();
  return (await git(context.repository.dir, ['rev-parse', name], signal)).stdout.trim();
}
