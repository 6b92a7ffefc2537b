/**
 * create: makes the workspace of an attempt ready, whatever state it is in. It can be interrupted
 * anywhere and called again. Nothing is reset before a ref keeps it (keep.ts). The base is the
 * commit the engine recorded, never "wherever the branch is now". A folder that this run did not
 * make is left alone.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { explained, OperationalError, rethrowBug } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import { git, LONG_LIMIT_MS } from '../git/git.ts';
import { linkedDirOf, mendLink, placeTold, realOf } from '../git/git-dir.ts';
import { areRelated } from '../git/history.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { headOf, isAncestor, readRef, setRef, updateRef } from '../git/refs.ts';
import { coneOf, setCone } from '../git/sparse.ts';
import { isMerging, isRebasing } from '../git/status.ts';
import { removeUntracked } from '../git/untracked.ts';
import { addWorktree, checkoutOf, FILLING, removeWorktree } from '../git/worktree.ts';
import type { AttemptStart } from '../model/event.ts';
import { keptRef } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { hide, isOwn, ownerName, rememberFolder, runFolder, workspaceDir } from './folders.ts';
import { inject, restoreInjected } from './inject.ts';
import { keepBranchTip, keepWork } from './keep.ts';
import { isIdle } from './pool/idle-worktrees.ts';
import { type Preparation, prepareWorkspace, type SetupDone } from './prepare.ts';
import { branchOf, type RunContext, specOf } from './run-context.ts';
import { forgetSpoiltSetup, setupIn } from './setup.ts';
import { coneFor } from './sparse-checkout.ts';

export interface Kept {
  readonly ref: string;
  readonly commit: Sha;
}

export interface WorkspaceOrder {
  readonly task: TaskId;
  readonly attempt: number;
  readonly base: Sha;
  readonly start: AttemptStart;
  readonly mark: string;
  /** Receives the earlier work that was kept before a reset. */
  readonly kept?: (kept: Kept) => void;
  /** Receives the output of set-up, line by line. */
  readonly onLine?: (line: string) => void;
}

export type Created =
  | { readonly kind: 'ready'; readonly dir: string; readonly setup: SetupDone | null }
  | (Preparation & { kind: 'failed' })
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' };

export async function createWorkspace(
  context: RunContext,
  order: WorkspaceOrder,
  signal: AbortSignal,
): Promise<Created> {
  const dir = workspaceDir(context, order.task);
  context.pool.pending.delete(dir);
  try {
    await checkOut(context, order, dir, signal);
    rememberFolder(dir);
    await inject(context, { dir, mode: specOf(context, order.task).mode }, signal);
    const goesOn = order.attempt > 1 && order.start.kind !== 'fresh';
    const { suspension = null } = context;
    const { task: of, mark, onLine = () => {} } = order;
    const place = { dir, of, unkeyed: 'workspace', goesOn, mark, suspension, onLine };
    const brought = await prepareWorkspace(context, place, signal);
    return brought.kind === 'ready' ? { ...brought, dir } : brought;
  } catch (error) {
    rethrowBug(error);
    if (signal.aborted) return { kind: 'stopped' };
    return { kind: 'failed', message: explained(error) };
  }
}

async function checkOut(
  context: RunContext,
  order: WorkspaceOrder,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const branch = branchOf(context, order.task);
  if (!(await isOwn(context, order.task))) {
    throw new OperationalError(`${dir} already exists and was not created by this run.`);
  }
  if (order.attempt === 1) await adoptBranch(context, branch, order.base, signal);
  await hide(context, [dir, runFolder(context)], signal);
  if (order.attempt === 1) {
    const commit = startCommit(order);
    const cone = await coneFor(context, { task: order.task, commit }, signal);
    const owner = ownerName(context, order.task);
    const wanted = { dir, branch, commit, owner, cone, assertHeld: context.assertHeld };
    if (await context.pool.take(wanted, signal)) {
      return order.start.kind === 'fresh' ? undefined : mergeBaseInto(order, dir, signal);
    }
  }
  const { commonDir } = context.repository;
  const isThere = order.attempt > 1 && !isIdle(dir) && mendLink(commonDir, dir);
  if (isThere) {
    await repairLink(commonDir, dir, signal);
    await removeStaleLocks({ commonDir, dir, branch }, signal); // No process of the task is alive.
    await restoreInjected(dir, signal);
  }
  if (isThere && order.start.kind === 'fresh') return resetTo(context, order, dir, signal);
  if (isThere) await returnToBranch(context, order, dir, signal);
  if (!isThere) await add(context, { ...order, branch, dir }, signal);
  if (order.start.kind !== 'fresh') await mergeBaseInto(order, dir, signal);
}

/** The engine may have died while git moved the worktree here. */
async function repairLink(commonDir: string, dir: string, signal: AbortSignal): Promise<void> {
  const entry = linkedDirOf(dir);
  const recorded = entry === null ? null : placeTold(entry);
  if (recorded !== null && realOf(recorded) === realOf(dir)) return;
  await git(commonDir, ['worktree', 'repair', dir], signal);
}

/** Brings HEAD back to the task's branch from an orphan or unrelated one; no file is touched. */
async function returnToBranch(
  context: RunContext,
  { task, attempt, base }: WorkspaceOrder,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const head = await headOf(dir, signal);
  if (head !== null && (await areRelated(dir, head, base, signal))) return;
  const { commonDir } = context.repository;
  const message = `Left by attempt ${attempt - 1} of ${task}`;
  await keepWork(dir, { ref: keptRef(context.run, `${task}.${attempt - 1}`), message }, signal);
  const ref = `refs/heads/${branchOf(context, task)}`;
  const tip = await readRef(commonDir, ref, signal);
  const isSound = tip !== null && (await areRelated(dir, tip, base, signal));
  if (!isSound) await setRef(commonDir, ref, base, signal);
  await git(dir, ['symbolic-ref', 'HEAD', ref], signal);
  await git(dir, ['reset', '-q', '--mixed'], signal, FILLING);
}

/** The first commit of a task's branch: the base, or work from before the run. */
function startCommit({ start, base }: WorkspaceOrder): Sha {
  return start.kind === 'rework' ? start.commit : base;
}

/** A branch without the run in its name may exist: it moves only if the base contains it. */
async function adoptBranch(
  { repository, run }: RunContext,
  branch: string,
  base: Sha,
  signal: AbortSignal,
): Promise<void> {
  if (branch.includes(run)) return;
  const { commonDir } = repository;
  const ref = `refs/heads/${branch}`;
  const tip = await readRef(commonDir, ref, signal);
  if (tip === null || tip === base) return;
  const checkout = await checkoutOf(repository, branch, signal);
  if (checkout !== null) throw new OperationalError(`${branch} is checked out in ${checkout}.`);
  const isFree = await isAncestor(commonDir, tip, base, signal);
  const swap = isFree ? await updateRef(commonDir, ref, { to: base, from: tip }, signal) : null;
  if (swap?.kind === 'moved') return;
  throw new OperationalError(`The branch ${branch} exists and holds commits of its own.`);
}

/** Adds the worktree: on the branch the task already has, or on a new one at the base. */
async function add(
  context: RunContext,
  order: WorkspaceOrder & { readonly branch: string; readonly dir: string },
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = context.repository;
  if (isIdle(order.dir)) await context.pool.drain([order.dir], signal);
  if (order.attempt > 1) await clearFolder(commonDir, order, signal);
  makeFolders(dirname(order.dir));
  const goesOn = order.start.kind !== 'fresh';
  const ref = `refs/heads/${order.branch}`;
  const tip = order.attempt > 1 ? await readRef(commonDir, ref, signal) : null;
  if (tip !== null && !goesOn) {
    await keepTip(context, order, tip, signal);
    await setRef(commonDir, ref, order.base, signal);
  }
  const commit = goesOn && tip !== null ? tip : startCommit(order);
  const { dir: path, branch, task } = order;
  const owner = ownerName(context, task);
  const cone = await coneFor(context, { task, commit }, signal);
  const { assertHeld } = context;
  const began = performance.now();
  const wanted = { path, branch, commit, owner, cone, assertHeld };
  const filledAt = await addWorktree(commonDir, wanted, signal);
  context.pool.pending.learn(performance.now() - began);
  context.pool.begin(path, filledAt);
}

/**
 * Clears what an engine left that died while making the workspace: a folder, git's entry, or both.
 * Files in a folder that is no longer a worktree are an agent's: the folder is moved aside.
 */
async function clearFolder(
  commonDir: string,
  { dir, attempt }: { readonly dir: string; readonly attempt: number },
  signal: AbortSignal,
): Promise<void> {
  if (existsSync(dir) && !mendLink(commonDir, dir)) {
    const entries = readdirSync(dir, { withFileTypes: true });
    const hasWork = entries.some((entry) => entry.name !== '.git' || entry.isDirectory());
    if (hasWork) await rename(dir, asideOf(dir, attempt - 1));
    else await rm(dir, { recursive: true });
  }
  await removeWorktree(commonDir, dir, signal);
}

function asideOf(dir: string, attempt: number): string {
  const name = `${dir}.left-${attempt}`;
  return existsSync(name) ? `${name}-${randomUUID()}` : name;
}

/** Keeps the work of a branch without a worktree before the branch moves. */
async function keepTip(
  context: RunContext,
  { task, attempt, base, kept = () => {} }: WorkspaceOrder,
  tip: Sha,
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = context.repository;
  if (await isAncestor(commonDir, tip, base, signal)) return;
  const ref = keptRef(context.run, `${task}.${attempt - 1}`);
  await setRef(commonDir, ref, tip, signal);
  kept({ ref, commit: tip });
}

/** Resets to the base; the work of earlier attempts is kept first. */
async function resetTo(
  context: RunContext,
  { task, attempt, base, kept = () => {} }: WorkspaceOrder,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const ref = keptRef(context.run, `${task}.${attempt - 1}`);
  const message = `Left by attempt ${attempt - 1} of ${task}`;
  const commit = await keepWork(dir, { ref, message, beyond: base }, signal);
  if (commit !== base) kept({ ref, commit });
  await keepBranchTip(context, task, dir, signal);
  await forgetSpoiltSetup(context, dir, signal);
  if (isRebasing(dir)) await git(dir, ['rebase', '--quit'], signal, { okCodes: [0, 1, 128] });
  const branch = branchOf(context, task);
  await git(dir, ['checkout', '-q', '-f', '-B', branch, base], signal, FILLING);
  const cone = coneOf(dir);
  if (cone !== null) await setCone(dir, cone, signal);
  await removeUntracked(dir, setupIn(dir)?.made ?? [], signal);
}

/**
 * The finished work merged with the head it did not land on; conflicts stay in the files. An
 * attempt that continues finds its base merged already, or the merge still in progress.
 */
async function mergeBaseInto(
  order: WorkspaceOrder,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const head = await headOf(dir, signal);
  if (isMerging(dir) || head === null) return;
  if (await isAncestor(dir, order.base, head, signal)) return;
  // A conflict in a file that is not checked out is written out only where git has left it out.
  const quietly = { config: { 'core.hooksPath': '/dev/null' }, limitMs: LONG_LIMIT_MS };
  if (coneOf(dir) !== null) await git(dir, ['checkout', '-q'], signal, quietly);
  const message = `Merge what landed meanwhile into ${order.task}`;
  const options = { okCodes: [0, 1], env: { GIT_MERGE_AUTOEDIT: 'no' } };
  await git(dir, ['merge', '-q', '--no-ff', '-m', message, order.base], signal, options);
}
