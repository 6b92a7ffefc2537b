/** The run's branch, from birth to the moment when the target holds all of it. */

import { existsSync } from 'node:fs';
import { OperationalError } from '../base/errors.ts';
import { git } from '../git/git.ts';
import { removeDeadLocks } from '../git/locks.ts';
import { isAncestor, readRef, setRef, updateRef } from '../git/refs.ts';
import { sweepTempFolders } from '../git/temp-folder.ts';
import { isLinked } from '../git/worktree-link.ts';
import { candidateRef } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { type Ref, removeBranches } from '../workspace/branches.ts';
import { type Ground, gateDirs, poolDirs, runRef, workspaceDir } from '../workspace/ground.ts';
import { removeRunFolder } from '../workspace/remove.ts';

/** Makes sure the run's branch exists; a resumed run finds it where it left it. */
export async function openRunBranch(ground: Ground, head: Sha, signal: AbortSignal): Promise<void> {
  const { commonDir } = ground.repository;
  const tip = await readRef(commonDir, runRef(ground), signal);
  if (tip === null) {
    const { assertHeld } = ground; // Another engine may have finished the run, and removed it.
    await updateRef(commonDir, runRef(ground), { to: head, from: null, assertHeld }, signal);
  }
}

/**
 * Removes the locks that a git which was killed with its engine left; throws where one may still be
 * held. Where the repository was moved together with its workspaces, git is told where these are.
 */
export async function repair(ground: Ground, signal: AbortSignal): Promise<void> {
  const { repository } = ground;
  await sweepTempFolders(repository.commonDir);
  await findWorktrees(ground, signal);
  const held = await removeDeadLocks(repository, signal);
  if (held.length === 0) return;
  throw new OperationalError(`git is at work in this repository: it holds ${held.join(', ')}.`, {
    remedy: 'Let it finish, then resume again. If no git runs, remove these files.',
  });
}

/** Both sides of the link between a repository and a worktree name the other by its full path. */
async function findWorktrees(ground: Ground, signal: AbortSignal): Promise<void> {
  const { commonDir } = ground.repository;
  const tasks = ground.plan.tasks.map(({ id }) => workspaceDir(ground, id));
  const dirs = [...tasks, ...gateDirs(ground), ...poolDirs(ground)];
  const moved = dirs.filter((dir) => existsSync(dir) && !isLinked(commonDir, dir));
  if (moved.length === 0) return;
  await git(commonDir, ['worktree', 'repair', ...moved], signal, { okCodes: [0, 1, 128] });
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
  const tip = target === null ? null : await readRef(commonDir, `refs/heads/${target}`, signal);
  const own = (await readRef(commonDir, runRef(ground), signal)) ?? head;
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
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
}

async function removeSpentBranches(
  ground: Ground,
  state: RunState,
  signal: AbortSignal,
): Promise<void> {
  await removeCandidateRefs(ground, signal);
  // What a user has named, or wants to find on its branch, is not ours to delete.
  const done = [...state.tasks.values()].filter(
    ({ workspace, status, spec }) =>
      workspace === 'removed' && status.kind !== 'delivered' && spec.branch === undefined,
  );
  const tasks = done.map(({ spec }) => spec.id);
  await removeBranches(ground, { tasks, also: await spentBranch(ground, state, signal) }, signal);
}

/** Nothing waits to be landed any more. */
async function removeCandidateRefs(
  { repository, run }: Ground,
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = repository;
  const args = ['for-each-ref', '--format=delete %(refname)', candidateRef(run, '')];
  const { stdout: stdin } = await git(commonDir, args, signal);
  if (stdin !== '') await git(commonDir, ['update-ref', '--stdin'], signal, { stdin });
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
  const tip = await readRef(commonDir, ref, signal);
  if (tip === null) return null;
  // With strategy `none` it never moved from where all work began.
  const isUnmoved = plan.landing.strategy === 'none' && tip === base;
  const isHeld = isUnmoved || (await isAncestor(commonDir, tip, `refs/heads/${target}`, signal));
  return isHeld ? { ref, tip } : null;
}
