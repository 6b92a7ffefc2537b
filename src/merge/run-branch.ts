/** The run's branch, from birth to the moment when the target holds all of it. */

import { OperationalError } from '../base/errors.ts';
import { sweepBegun } from '../git/begun.ts';
import { removeDeadLocks } from '../git/locks.ts';
import { mendOverlays } from '../git/overlay.ts';
import { closeRefWriter } from '../git/ref-writer.ts';
import { isAncestor, setRef, tipOf, updateRef } from '../git/refs.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { type Ref, removeBranches } from '../workspace/branches.ts';
import { type Ground, runRef } from '../workspace/ground.ts';
import { removeRunFolder } from '../workspace/remove.ts';

/** Makes sure the run's branch exists; a resumed run finds it where it left it. */
export async function openRunBranch(ground: Ground, head: Sha, signal: AbortSignal): Promise<void> {
  const { commonDir } = ground.repository;
  const tip = await tipOf(commonDir, runRef(ground), signal);
  if (tip === null) {
    const { assertHeld } = ground; // Another engine may have finished the run, and removed it.
    await updateRef(commonDir, runRef(ground), { to: head, from: null, assertHeld }, signal);
  }
}

/**
 * Removes what a git that was killed with its engine left: locks, and worktrees that were not even
 * registered. Throws where a lock may still be held. Workspaces that were mounted are so again; one
 * that cannot be says so when it is needed.
 */
export async function repair({ repository, run }: Ground, signal: AbortSignal): Promise<void> {
  sweepBegun(repository.commonDir);
  await mendOverlays(repository.commonDir, (owner) => owner.startsWith(`${run}/`), signal);
  const held = await removeDeadLocks(repository, signal);
  if (held.length === 0) return;
  throw new OperationalError(`git is at work in this repository: it holds ${held.join(', ')}.`, {
    remedy: 'Let it finish, then resume again. If no git runs, remove these files.',
  });
}

/**
 * Brings the run's branch to a target that has gone on from it, and says which failed work is there:
 * a person may have merged it by hand. Null where the target has not moved that way.
 */
export async function catchUp(
  ground: Ground,
  { head, target, tasks }: RunState,
  signal: AbortSignal,
): Promise<{ readonly head: Sha; readonly landed: readonly TaskId[] } | null> {
  const { commonDir } = ground.repository;
  const tip = target === null ? null : await tipOf(commonDir, `refs/heads/${target}`, signal);
  const own = (await tipOf(commonDir, runRef(ground), signal)) ?? head;
  if (tip === null || own === null || tip === own) return null;
  if (!(await isAncestor(commonDir, own, tip, signal))) return null;
  const landed: TaskId[] = [];
  for (const { spec, status, work } of tasks.values()) {
    if (status.kind !== 'failed' || work === null) continue;
    if (await isAncestor(commonDir, work, tip, signal)) landed.push(spec.id);
  }
  await setRef(commonDir, runRef(ground), tip, signal);
  return { head: tip, landed };
}

/**
 * Tidies up after a run: the workspaces of gates go, the branches of tasks that are done, and the
 * run's own branch if the target holds all of it and nothing is left to resume. With strategy
 * `none` nothing ever lands on that branch.
 */
export async function closeRunBranch(
  ground: Ground,
  state: RunState,
  signal: AbortSignal,
): Promise<void> {
  ground.assertHeld();
  const answers = await Promise.allSettled([
    removeRunFolder(ground, signal),
    removeSpentBranches(ground, state, signal),
  ]);
  await closeRefWriter(ground.repository.commonDir); // It would keep the program alive.
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
}

async function removeSpentBranches(
  ground: Ground,
  state: RunState,
  signal: AbortSignal,
): Promise<void> {
  // What a user has named, or wants to find on its branch, is not ours to delete.
  const done = [...state.tasks.values()].filter(
    ({ workspace, status, spec }) =>
      workspace === 'removed' && status.kind !== 'delivered' && spec.branch === undefined,
  );
  const tasks = done.map(({ spec }) => spec.id);
  await removeBranches(ground, { tasks, also: await spentBranch(ground, state, signal) }, signal);
}

/** The run's own branch where nobody needs it any more. */
async function spentBranch(
  ground: Ground,
  { outcome, target, plan, base }: RunState,
  signal: AbortSignal,
): Promise<Ref | null> {
  const { commonDir } = ground.repository;
  const isDone = outcome === 'succeeded' || plan.landing.strategy === 'none';
  if (!isDone || target === null) return null;
  const ref = runRef(ground);
  const tip = await tipOf(commonDir, ref, signal);
  if (tip === null) return null;
  // With strategy `none` it never moved from where all work began.
  const isUnmoved = plan.landing.strategy === 'none' && tip === base;
  const isHeld = isUnmoved || (await isAncestor(commonDir, tip, `refs/heads/${target}`, signal));
  return isHeld ? { ref, tip } : null;
}
