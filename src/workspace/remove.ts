/**
 * remove: the end of a workspace.
 *
 *   W6. A workspace goes only when all of its work is reachable from a ref; otherwise it stays,
 *       with the reason. Untracked files count as work.
 *   W7. The workspace of a failed task with anything in it stays as it is: a person will look.
 */

import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { isClean } from '../git/diff.ts';
import { deleteRef, isAncestor, readRef, resolveCommit } from '../git/refs.ts';
import { removeWorktree, sweepRemoved } from '../git/worktree.ts';
import { keptRef } from '../model/names.ts';
import type { TaskId } from '../model/plan.ts';
import { branchOf, type Ground, gateDir, runFolder, runRef, workspaceDir } from './ground.ts';
import { keepWork } from './keep.ts';

export type Removed =
  | { readonly kind: 'removed' }
  | { readonly kind: 'kept'; readonly why: string };

/** Removes a task's workspace and branch if that loses nothing. */
export async function removeWorkspace(
  ground: Ground,
  { task, succeeded }: { readonly task: TaskId; readonly succeeded: boolean },
  signal: AbortSignal,
): Promise<Removed> {
  const dir = workspaceDir(ground, task);
  const { commonDir } = ground.repository;
  if (existsSync(dir)) {
    const isSafe = await isLanded(ground, dir, signal);
    const clean = isSafe && (await isClean(dir, signal));
    if (!clean && !succeeded) return { kind: 'kept', why: 'it holds work that has not landed' };
    if (!clean) {
      const ref = keptRef(ground.run, task);
      await keepWork(dir, { ref, message: `Left in the workspace of ${task}` }, signal);
    }
  }
  await removeWorktree(commonDir, dir, signal);
  await removeBranch(ground, task, signal);
  return { kind: 'removed' };
}

/** Removes the workspaces that gates used, and the run's folder if nothing is left in it. */
export async function removeGateWorkspaces(ground: Ground, signal: AbortSignal): Promise<void> {
  for (let slot = 0; slot < ground.plan.limits.gates; slot += 1) {
    const dir = gateDir(ground, slot);
    if (existsSync(dir)) await removeWorktree(ground.repository.commonDir, dir, signal);
  }
  await sweepRemoved(runFolder(ground), signal);
  await rmdir(runFolder(ground)).catch(() => undefined); // Kept workspaces keep it.
  await rmdir(ground.repository.worktreesDir).catch(() => undefined);
}

async function isLanded(ground: Ground, dir: string, signal: AbortSignal): Promise<boolean> {
  const head = await resolveCommit(dir, 'HEAD', signal);
  return head !== null && (await isAncestor(dir, head, runRef(ground), signal));
}

/** The branch goes when it is contained in the run's branch, or when a kept ref holds it. */
async function removeBranch(ground: Ground, task: TaskId, signal: AbortSignal): Promise<void> {
  const { commonDir } = ground.repository;
  const ref = `refs/heads/${branchOf(ground, task)}`;
  const tip = await readRef(commonDir, ref, signal);
  if (tip === null) return;
  const kept = await readRef(commonDir, keptRef(ground.run, task), signal);
  const holders = [runRef(ground), ...(kept === null ? [] : [kept])];
  for (const holder of holders) {
    if (await isAncestor(commonDir, tip, holder, signal)) {
      await deleteRef(commonDir, ref, tip, signal);
      return;
    }
  }
}
