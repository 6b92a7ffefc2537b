/** The branch that a run's work lands on, from its creation to its removal. */

import { existsSync } from 'node:fs';
import { OperationalError } from '../base/errors.ts';
import { filesBetween } from '../git/diff.ts';
import { git } from '../git/git.ts';
import { isLinked } from '../git/git-dir.ts';
import { removeDeadLocks } from '../git/locks.ts';
import { isAncestor, readRef, setRef, updateRef } from '../git/refs.ts';
import { sweepTempFolders } from '../git/temp-folder.ts';
import type { MendedWork } from '../model/event.ts';
import { candidateRef, taskBranch } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { gateDirs, poolDirs, workspaceDir } from '../workspace/folders.ts';
import { type Ref, removeBranches, removeRunFolder } from '../workspace/remove.ts';
import { type RunContext, runRef } from '../workspace/run-context.ts';

export async function openRunBranch(
  context: RunContext,
  head: Sha,
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = context.repository;
  const tip = await readRef(commonDir, runRef(context), signal);
  if (tip === null) {
    const { assertHeld } = context; // Another engine may have finished the run, and removed it.
    await updateRef(commonDir, runRef(context), { to: head, from: null, assertHeld }, signal);
  }
}

/**
 * Removes locks of git processes that were killed with their engine; throws where one may still be
 * held. Repairs the links of workspaces that were moved together with the repository.
 */
export async function repair(context: RunContext, signal: AbortSignal): Promise<void> {
  const { repository } = context;
  await sweepTempFolders(repository.commonDir);
  await findWorktrees(context, signal);
  const held = await removeDeadLocks(repository, signal);
  if (held.length === 0) return;
  throw new OperationalError(`git is at work in this repository: it holds ${held.join(', ')}.`, {
    remedy: 'Let it finish, then resume again. If no git runs, remove these files.',
  });
}

/** Both sides of the link between a repository and a worktree name the other by its full path. */
async function findWorktrees(context: RunContext, signal: AbortSignal): Promise<void> {
  const { commonDir } = context.repository;
  const tasks = context.plan.tasks.map(({ id }) => workspaceDir(context, id));
  const dirs = [...tasks, ...gateDirs(context), ...poolDirs(context)];
  const moved = dirs.filter((dir) => existsSync(dir) && !isLinked(commonDir, dir));
  if (moved.length === 0) return;
  await git(commonDir, ['worktree', 'repair', ...moved], signal, { okCodes: [0, 1, 128] });
}

/**
 * Moves the run's branch forward to the target, and returns the failed tasks whose work it contains:
 * a person may have merged them by hand. Null where the target is not ahead of the branch.
 */
export async function catchUp(
  context: RunContext,
  { head, target, tasks }: RunState,
  mended: readonly MendedWork[],
  signal: AbortSignal,
): Promise<{ readonly head: Sha; readonly landed: readonly TaskId[] } | null> {
  const { commonDir } = context.repository;
  const tip = target === null ? null : await readRef(commonDir, `refs/heads/${target}`, signal);
  const own = (await readRef(commonDir, runRef(context), signal)) ?? head;
  if (tip === null || own === null || tip === own) return null;
  if (!(await isAncestor(commonDir, own, tip, signal))) return null;
  const landed: TaskId[] = [];
  for (const { spec, status, work } of tasks.values()) {
    const newest = mended.find(({ task }) => task === spec.id)?.commit ?? work;
    if (status.kind !== 'failed' || newest === null) continue;
    if (await isAncestor(commonDir, newest, tip, signal)) landed.push(spec.id);
  }
  await setRef(commonDir, runRef(context), tip, signal);
  return { head: tip, landed };
}

/**
 * Commits that people made on the branches of unsuccessful tasks: such a branch is not where the last
 * attempt left it, and is ahead of that attempt's base. After a crash that is unknown, and all commits
 * may be the agent's.
 */
export async function mendedWork(
  { repository, run, plan }: Pick<RunContext, 'repository' | 'run' | 'plan'>,
  { tasks }: Pick<RunState, 'tasks'>,
  signal: AbortSignal,
): Promise<readonly MendedWork[]> {
  const { commonDir } = repository;
  const mended: MendedWork[] = [];
  for (const { spec, status, attempts, work } of tasks.values()) {
    const last = attempts.at(-1);
    if (spec.mode !== 'write' || (status.kind !== 'failed' && status.kind !== 'stopped')) continue;
    const left = last?.failure === null ? work : (last?.tip ?? null);
    if (last === undefined || last.base === null || left === null) continue;
    const ref = `refs/heads/${taskBranch(plan.conventions, run, spec)}`;
    const tip = await readRef(commonDir, ref, signal);
    if (tip === null || tip === left || tip === work) continue;
    if (await isAncestor(commonDir, tip, last.base, signal)) continue;
    const files = await filesBetween(commonDir, last.base, tip, signal);
    mended.push({ task: spec.id, commit: tip, files });
  }
  return mended;
}

/**
 * Cleans up after a run: removes gate workspaces, the branches of finished tasks, and the run's own
 * branch if the target contains it and nothing is left to resume. With strategy `none` nothing lands
 * on that branch.
 */
export async function closeRunBranch(
  context: RunContext,
  state: RunState,
  signal: AbortSignal,
): Promise<void> {
  context.assertHeld();
  const answers = await Promise.allSettled([
    removeRunFolder(context, signal),
    removeSpentBranches(context, state, signal),
  ]);
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
}

async function removeSpentBranches(
  context: RunContext,
  state: RunState,
  signal: AbortSignal,
): Promise<void> {
  await removeCandidateRefs(context, signal);
  // Branches that the user named, and delivered ones, stay.
  const done = [...state.tasks.values()].filter(
    ({ workspace, status, spec }) =>
      workspace === 'removed' && status.kind !== 'delivered' && spec.branch === undefined,
  );
  const tasks = done.map(({ spec }) => spec.id);
  await removeBranches(context, { tasks, also: await spentBranch(context, state, signal) }, signal);
}

async function removeCandidateRefs(
  { repository, run }: RunContext,
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = repository;
  const args = ['for-each-ref', '--format=delete %(refname)', candidateRef(run, '')];
  const { stdout: stdin } = await git(commonDir, args, signal);
  if (stdin !== '') await git(commonDir, ['update-ref', '--stdin'], signal, { stdin });
}

/** The run's own branch, if it is no longer needed. */
async function spentBranch(
  context: RunContext,
  { outcome, target, plan, base }: RunState,
  signal: AbortSignal,
): Promise<Ref | null> {
  const { commonDir } = context.repository;
  const isDone = outcome === 'succeeded' || plan.landing.strategy === 'none';
  if (!isDone || target === null) return null;
  const ref = runRef(context);
  const tip = await readRef(commonDir, ref, signal);
  if (tip === null) return null;
  // With strategy `none` it never moved from where all work began.
  const isUnmoved = plan.landing.strategy === 'none' && tip === base;
  const isHeld = isUnmoved || (await isAncestor(commonDir, tip, `refs/heads/${target}`, signal));
  return isHeld ? { ref, tip } : null;
}
