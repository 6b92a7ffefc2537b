/**
 * remove: the end of a workspace. It is removed only if all of its work is reachable from a ref;
 * otherwise it stays, with the reason. Untracked files count as work, and so do changes hidden by
 * flags in the index. The workspace of a failed task with work in it stays as it is, for a person
 * to look at.
 */

import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { otherwise } from '../base/errors.ts';
import { git } from '../git/git.ts';
import { isWorkingTree, mendLink } from '../git/git-dir.ts';
import { headOf, isAncestor } from '../git/refs.ts';
import { flaggedIn, hiddenChanges, isHalfDone, type Status, statusOf } from '../git/status.ts';
import { forgetGone, removeWorktree, sweepRemoved } from '../git/worktree.ts';
import { sweepNotes } from '../git/worktree-notes.ts';
import type { ReleaseEffect } from '../model/effect.ts';
import { keptRef } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import {
  gateDir,
  gateDirs,
  gatesFolder,
  isOwn,
  plainFolder,
  poolFolder,
  runFolder,
  workspaceDir,
  workspacesFolder,
} from './folders.ts';
import { restoreInjected } from './inject.ts';
import { keepWork } from './keep.ts';
import { isIdle } from './pool/idle-worktrees.ts';
import type { ReturnedWorktree } from './pool/pool.ts';
import type { FilesKnown } from './restore.ts';
import { branchOf, type RunContext, runRef } from './run-context.ts';
import { lastingSetup } from './setup.ts';

export type Removed =
  | { readonly kind: 'removed' }
  | { readonly kind: 'kept'; readonly why: string };

/** Removes a task's workspace, or hands it to the pool, if that loses nothing. */
export async function removeWorkspace(
  context: RunContext,
  { task, succeeded, safe }: Pick<ReleaseEffect, 'task' | 'succeeded' | 'safe'>,
  signal: AbortSignal,
): Promise<Removed> {
  const dir = workspaceDir(context, task);
  const { commonDir } = context.repository;
  if (!(await isOwn(context, task))) return { kind: 'removed' }; // It never had one.
  if (isIdle(dir)) return { kind: 'removed' }; // An engine that died had got this far.
  if (mendLink(commonDir, dir)) {
    await restoreInjected(dir, signal);
    const left = await leftoversIn(context, { dir, safe }, signal);
    if (left.hasWork && !succeeded) {
      return { kind: 'kept', why: 'it holds work that has not landed' };
    }
    if (left.hasWork) {
      const ref = keptRef(context.run, task);
      await keepWork(dir, { ref, message: `Left in the workspace of ${task}` }, signal);
    }
    context.assertHeld();
    const { head: commit, bare, flagged, found = null } = left;
    const isPooled =
      commit !== null &&
      (await returnToPool(context, dir, { commit, bare, flagged, found }, signal));
    if (isPooled) return { kind: 'removed' };
  }
  context.assertHeld();
  await removeWorktree(commonDir, dir, signal);
  return { kind: 'removed' };
}

/** Removes the gate workspaces of a run, and its folder if that is empty then. */
export async function removeRunFolder(context: RunContext, signal: AbortSignal): Promise<void> {
  const { commonDir } = context.repository;
  // A gate function that ignores its signal may still write to its workspace: no task may get it.
  const inUse = context.session.gateSlots.used.map((slot) => gateDir(context, slot));
  for (const dir of gateDirs(context)) {
    const isPooled = !inUse.includes(dir) && (await returnGate(context, dir, signal));
    if (!isPooled) await removeWorktree(commonDir, dir, signal);
  }
  for (const folder of [runFolder(context), gatesFolder(context)]) {
    await forgetGone(commonDir, folder, signal);
    await sweepRemoved(folder, signal);
  }
  await sweepFolders(context, signal);
}

/** Removes idle workspaces and empty folders. Safe for an engine that has lost its run. */
export async function sweepFolders(context: RunContext, signal: AbortSignal): Promise<void> {
  await context.pool.settle(signal);
  sweepNotes(context.repository.commonDir);
  await rmdir(poolFolder(context)).catch(otherwise(undefined)); // Seeds use it as a temporary folder.
  await rmdir(runFolder(context)).catch(otherwise(undefined)); // It stays while it holds kept workspaces.
  for (const { id } of context.plan.tasks) await removeEmptyParents(context, id);
  for (const folder of [gatesFolder(context), plainFolder(context), workspacesFolder(context)]) {
    await rmdir(folder).catch(otherwise(undefined));
  }
}

/** Gate workspaces are pooled like those of tasks. */
async function returnGate(context: RunContext, dir: string, signal: AbortSignal): Promise<boolean> {
  if (!isWorkingTree(dir)) return false;
  const { head } = await statusOf(dir, { untracked: 'no' }, signal);
  if (head === null) return false;
  return returnToPool(context, dir, { commit: head, bare: false, flagged: null }, signal);
}

/** Returns a workspace to the pool, with the results of set-up where they may stay. */
async function returnToPool(
  context: RunContext,
  dir: string,
  what: ReturnedWorktree,
  signal: AbortSignal,
): Promise<boolean> {
  const { keepFiles = [] } = context.plan.workspace;
  const setup = keepFiles.length === 0 ? null : await lastingSetup(context, dir, signal);
  return context.pool.put(dir, { ...what, setup }, signal);
}

/** Slashes in a branch name make folders around its workspace. */
async function removeEmptyParents(context: RunContext, task: TaskId): Promise<void> {
  const top = workspacesFolder(context);
  let dir = dirname(workspaceDir(context, task));
  for (; dir.startsWith(`${top}${sep}`); dir = dirname(dir)) {
    const isGone = await rmdir(dir).then(
      () => true,
      () => !existsSync(dir),
    );
    if (!isGone) return;
  }
}

interface Leftovers extends Pick<Status, 'head'>, FilesKnown {
  /** Uncommitted changes, or a commit that the run's branch does not hold. */
  readonly hasWork: boolean;
}

async function leftoversIn(
  context: RunContext,
  { dir, safe }: { readonly dir: string; readonly safe: readonly Sha[] },
  signal: AbortSignal,
): Promise<Leftovers> {
  const held = await context.pool.heldBy(dir, signal);
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
  // `git status` does not report changes hidden by flags.
  const hidden = flags.length === 0 ? [] : await hiddenChanges(dir, signal);
  const isSafe =
    head !== null &&
    (safe.includes(head) || (await isAncestor(dir, head, runRef(context), signal)));
  const isClean = changed.length + untracked.length + hidden.length === 0 && !isHalfDone(dir);
  const bare = isClean && ignored.length === 0;
  return { head, hasWork: !isSafe || !isClean, bare, flagged: flags.length > 0, found: null };
}

export interface Ref {
  readonly ref: string;
  readonly tip: Sha;
}

/** Deletes those branches that the run's branch or a kept ref holds, and another one with them. */
export async function removeBranches(
  context: RunContext,
  { tasks, also }: { readonly tasks: readonly TaskId[]; readonly also: Ref | null },
  signal: AbortSignal,
): Promise<void> {
  const { dir } = context.repository;
  const wanted = tasks.map((task) => `refs/heads/${branchOf(context, task)}`);
  const safe = wanted.length === 0 ? new Map() : await safeRefs(context, wanted, signal);
  if (also !== null) safe.set(also.ref, also.tip);
  const lines = [...safe].map(([ref, tip]) => `delete ${ref} ${tip}\n`);
  if (lines.length === 0) return;
  await git(dir, ['update-ref', '--stdin'], signal, { stdin: lines.join('') });
}

/** Branches whose work the run's branch holds, or a kept ref where that does not. */
async function safeRefs(
  context: RunContext,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Sha>> {
  const all = await refsBelow(context, [], signal);
  // After an interrupted clean-up the run's branch may be gone already.
  const isOpen = all.has(runRef(context)) && wanted.some((ref) => all.has(ref));
  const merged = isOpen ? await refsBelow(context, ['--merged', runRef(context)], signal) : [];
  const safe = new Map([...merged].filter(([ref]) => wanted.includes(ref)));
  const left = new Set(wanted.filter((ref) => !safe.has(ref) && all.has(ref)));
  const isKept = keptRef(context.run, '');
  const keptTips = new Set(
    [...all].filter(([ref]) => ref.startsWith(isKept)).map(([, tip]) => tip),
  );
  for (const [ref, tip] of all) if (left.has(ref) && keptTips.has(tip)) safe.set(ref, tip);
  return safe;
}

async function refsBelow(
  { repository: { commonDir }, run }: RunContext,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const format = '--format=%(refname) %(objectname)';
  const places = ['refs/heads', keptRef(run, '').slice(0, -1)];
  const { stdout } = await git(commonDir, ['for-each-ref', format, ...args, ...places], signal);
  const rows = stdout.split('\n').filter((line) => line !== '');
  return new Map(rows.map((line) => line.split(' ') as [string, Sha]));
}
