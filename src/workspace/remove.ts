/**
 * remove: the end of a workspace.
 *
 *   W7. A workspace goes only when all of its work is reachable from a ref; otherwise it stays,
 *       with the reason. Untracked files count as work, and so do changes that git was told not to
 *       look at.
 *   W8. The workspace of a failed task with anything in it stays as it is: a person will look.
 */

import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { isWorkingTree } from '../git/git-dir.ts';
import { flaggedIn, hiddenChanges } from '../git/hidden.ts';
import { headOf, isAncestor } from '../git/refs.ts';
import { type Status, statusOf } from '../git/status.ts';
import { isHalfDone } from '../git/unfinished.ts';
import { forgetGone, removeWorktree, sweepRemoved } from '../git/worktree.ts';
import { mendLink } from '../git/worktree-link.ts';
import { sweepNotes } from '../git/worktree-notes.ts';
import type { ReleaseEffect } from '../model/effect.ts';
import { keptRef } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import {
  type Ground,
  gateDirs,
  isOwn,
  poolFolder,
  runFolder,
  runRef,
  workspaceDir,
  workspacesFolder,
} from './ground.ts';
import { isWaiting } from './idle.ts';
import { takeBack } from './inject.ts';
import { keepWork } from './keep.ts';
import type { ToPut } from './pool.ts';
import { lastingSetup } from './setup.ts';
import type { Found } from './touched.ts';

export type Removed =
  | { readonly kind: 'removed' }
  | { readonly kind: 'kept'; readonly why: string };

/** Removes a task's workspace, or hands it to the pool, if that loses nothing. */
export async function removeWorkspace(
  ground: Ground,
  { task, succeeded, safe }: Pick<ReleaseEffect, 'task' | 'succeeded' | 'safe'>,
  signal: AbortSignal,
): Promise<Removed> {
  const dir = workspaceDir(ground, task);
  const { commonDir } = ground.repository;
  if (!(await isOwn(ground, task))) return { kind: 'removed' }; // It never had one.
  if (isWaiting(dir)) return { kind: 'removed' }; // An engine that died had come so far.
  if (mendLink(commonDir, dir)) {
    await takeBack(dir, signal);
    const left = await leftoversIn(ground, { dir, safe }, signal);
    if (left.hasWork && !succeeded) {
      return { kind: 'kept', why: 'it holds work that has not landed' };
    }
    if (left.hasWork) {
      const ref = keptRef(ground.run, task);
      await keepWork(dir, { ref, message: `Left in the workspace of ${task}` }, signal);
    }
    ground.assertHeld();
    const { head: commit, bare, flagged, found } = left;
    if (commit !== null && (await shelve(ground, dir, { commit, bare, flagged, found }, signal))) {
      return { kind: 'removed' };
    }
  }
  ground.assertHeld();
  await removeWorktree(commonDir, dir, signal);
  return { kind: 'removed' };
}

/** Removes what a run needed besides its tasks' workspaces, and its folder if that is empty then. */
export async function removeRunFolder(ground: Ground, signal: AbortSignal): Promise<void> {
  const { commonDir } = ground.repository;
  for (const dir of gateDirs(ground)) {
    if (!(await keepGate(ground, dir, signal))) await removeWorktree(commonDir, dir, signal);
  }
  await forgetGone(commonDir, runFolder(ground), signal);
  await sweepRemoved(runFolder(ground), signal);
  await letGo(ground, signal);
}

/**
 * Idle workspaces that no later run is to find go, and folders that are empty: what an engine may
 * still do that has lost its run.
 */
export async function letGo(ground: Ground, signal: AbortSignal): Promise<void> {
  await ground.pool.settle(signal);
  sweepNotes(ground.repository.commonDir);
  await rmdir(poolFolder(ground)).catch(() => undefined); // Copies of seeds pass through it.
  await rmdir(runFolder(ground)).catch(() => undefined); // Kept workspaces keep it.
  for (const { id } of ground.plan.tasks) await removeEmptyParents(ground, id);
  await rmdir(workspacesFolder(ground)).catch(() => undefined);
}

/** The workspace of a gate is as good as that of a task. */
async function keepGate(ground: Ground, dir: string, signal: AbortSignal): Promise<boolean> {
  if (!isWorkingTree(dir)) return false;
  const { head } = await statusOf(dir, { untracked: 'no' }, signal);
  if (head === null) return false;
  return shelve(ground, dir, { commit: head, bare: false, flagged: null }, signal);
}

/** Hands a workspace to the pool, with what its set-up made where that may stay. */
async function shelve(
  ground: Ground,
  dir: string,
  what: ToPut,
  signal: AbortSignal,
): Promise<boolean> {
  const { keepFiles = [] } = ground.plan.workspace;
  const setup = keepFiles.length === 0 ? null : await lastingSetup(ground, dir, signal);
  return ground.pool.put(dir, { ...what, setup }, signal);
}

/** A branch with slashes makes folders around its workspace. */
async function removeEmptyParents(ground: Ground, task: TaskId): Promise<void> {
  const top = workspacesFolder(ground);
  let dir = dirname(workspaceDir(ground, task));
  for (; dir.startsWith(`${top}${sep}`); dir = dirname(dir)) {
    const isGone = await rmdir(dir).then(
      () => true,
      () => !existsSync(dir),
    );
    if (!isGone) return;
  }
}

interface Leftovers extends Pick<Status, 'head'> {
  /** Something that is in no commit, or a commit that the run's branch does not hold. */
  readonly hasWork: boolean;
  /** No file is there that the commit does not hold. */
  readonly bare: boolean;
  /** Git was told not to look at some files. */
  readonly flagged: boolean;
  /** What was touched, if that was looked for. */
  readonly found: Found | null;
}

async function leftoversIn(
  ground: Ground,
  { dir, safe }: { readonly dir: string; readonly safe: readonly Sha[] },
  signal: AbortSignal,
): Promise<Leftovers> {
  const held = await ground.pool.heldBy(dir, signal);
  const isSure = held !== null && safe.includes(held.commit);
  if (isSure && (await headOf(dir, signal)) === held.commit) {
    const { commit: head, found } = held;
    return { head, hasWork: false, bare: true, flagged: false, found };
  }
  const [status, flags] = await Promise.all([
    statusOf(dir, { untracked: 'normal', ignored: true }, signal),
    flaggedIn(dir, signal),
  ]);
  const { head, changed, untracked, ignored } = status;
  // What git was told not to look at is in no commit, and its status does not know of it either.
  const hidden = flags.length === 0 ? [] : await hiddenChanges(dir, signal);
  const isSafe = head !== null && (await isHeld(ground, { dir, safe, head }, signal));
  const isClean = changed.length + untracked.length + hidden.length === 0 && !isHalfDone(dir);
  const bare = isClean && ignored.length === 0;
  return { head, hasWork: !isSafe || !isClean, bare, flagged: flags.length > 0, found: null };
}

/** Whether the run's branch holds the workspace's last commit. */
async function isHeld(
  ground: Ground,
  what: { readonly dir: string; readonly safe: readonly Sha[]; readonly head: Sha },
  signal: AbortSignal,
): Promise<boolean> {
  const { dir, safe, head } = what;
  return safe.includes(head) || isAncestor(dir, head, runRef(ground), signal);
}
