/**
 * create: a workspace ready for one attempt, from whatever is there.
 *
 *   W3. Nothing is reset before it is kept by a ref (keep.ts).
 *   W4. The base is the commit the engine recorded, never "wherever the branch is now".
 *   W5. A folder that this run has not made is left alone, whatever it is called.
 *   W6. It can be interrupted anywhere and called again: half a workspace is repaired or made anew.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { explained, OperationalError } from '../base/errors.ts';
import { git, LONG_LIMIT_MS } from '../git/git.ts';
import { linkedDirOf, realOf } from '../git/git-dir.ts';
import { areRelated } from '../git/history.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { headOf, isAncestor, readRef, setRef, updateRef } from '../git/refs.ts';
import { coneOf, setCone } from '../git/sparse.ts';
import { isMerging, isRebasing } from '../git/unfinished.ts';
import { addWorktree, checkoutOf, FILLING, removeWorktree } from '../git/worktree.ts';
import { mendLink, placeTold } from '../git/worktree-link.ts';
import type { AttemptStart } from '../model/event.ts';
import { keptRef } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { bring, cleanWorkspace, type Prepared } from './bring.ts';
import { coneFor } from './cone.ts';
import { noteFolder } from './folder-identity.ts';
import {
  branchOf,
  type Ground,
  isOwn,
  ownerName,
  runFolder,
  specOf,
  workspaceDir,
} from './ground.ts';
import { hide } from './hide.ts';
import { isWaiting } from './idle.ts';
import { inject, takeBack } from './inject.ts';
import { keepAside, keepWork } from './keep.ts';
import { forgetSpoiltSetup } from './setup.ts';

export interface WorkspaceOrder {
  readonly task: TaskId;
  readonly attempt: number;
  readonly base: Sha;
  readonly start: AttemptStart;
  readonly mark: string;
}

export type Created =
  | { readonly kind: 'ready'; readonly dir: string; readonly setup: Prepared | null }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' };

/** Prepares the workspace of a task as its attempt wants to begin. */
export async function createWorkspace(
  ground: Ground,
  order: WorkspaceOrder,
  signal: AbortSignal,
): Promise<Created> {
  const dir = workspaceDir(ground, order.task);
  ground.pool.coming.delete(dir);
  try {
    await checkOut(ground, order, dir, signal);
    noteFolder(dir);
    await inject(ground, { dir, mode: specOf(ground, order.task).mode }, signal);
    const goesOn = order.attempt > 1 && order.start.kind !== 'fresh';
    const { suspension } = ground;
    const { task: of, mark } = order;
    const place = { dir, of, unkeyed: 'workspace', goesOn, mark, suspension };
    const brought = await bring(ground, place, signal);
    if (brought.kind === 'ready') return { ...brought, dir };
    if (brought.kind === 'stopped') return brought;
    return { kind: 'failed', message: `${brought.message}\n${brought.output}` };
  } catch (error) {
    if (signal.aborted) return { kind: 'stopped' };
    return { kind: 'failed', message: explained(error) };
  }
}

async function checkOut(
  ground: Ground,
  order: WorkspaceOrder,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const branch = branchOf(ground, order.task);
  if (!(await isOwn(ground, order.task))) {
    throw new OperationalError(`${dir} is there already, and this run has not made it.`);
  }
  if (order.attempt === 1) await adoptBranch(ground, branch, order.base, signal);
  await hide(ground, [dir, runFolder(ground)], signal);
  if (order.attempt === 1) {
    const commit = beginningOf(order);
    const cone = await coneFor(ground, { task: order.task, commit }, signal);
    const owner = ownerName(ground, order.task);
    const wanted = { dir, branch, commit, owner, cone, assertHeld: ground.assertHeld };
    if (await ground.pool.take(wanted, signal)) {
      return order.start.kind === 'fresh' ? undefined : layOut(order, dir, signal);
    }
  }
  const { commonDir } = ground.repository;
  const isThere = order.attempt > 1 && !isWaiting(dir) && mendLink(commonDir, dir);
  if (isThere) {
    await tellPlace(commonDir, dir, signal);
    await removeStaleLocks({ commonDir, dir, branch }, signal); // No process of the task is alive.
    await takeBack(dir, signal);
  }
  if (isThere && order.start.kind === 'fresh') return resetTo(ground, order, dir, signal);
  if (isThere) await returnToBranch(ground, order, dir, signal);
  if (!isThere) await add(ground, { ...order, branch, dir }, signal);
  if (order.start.kind !== 'fresh') await layOut(order, dir, signal);
}

/** The engine may have died while git moved the worktree to where it is. */
async function tellPlace(commonDir: string, dir: string, signal: AbortSignal): Promise<void> {
  const entry = linkedDirOf(dir);
  const told = entry === null ? null : placeTold(entry);
  if (told !== null && realOf(told) === realOf(dir)) return;
  await git(commonDir, ['worktree', 'repair', dir], signal);
}

/**
 * An attempt may have left HEAD on a branch without a commit, or on one that has nothing to do with
 * where it began. Before another one goes on, HEAD is on the task's branch again; no file is touched.
 */
async function returnToBranch(
  ground: Ground,
  { task, attempt, base }: WorkspaceOrder,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const head = await headOf(dir, signal);
  if (head !== null && (await areRelated(dir, head, base, signal))) return;
  const { commonDir } = ground.repository;
  const message = `Left by attempt ${attempt - 1} of ${task}`;
  await keepWork(dir, { ref: keptRef(ground.run, `${task}.${attempt - 1}`), message }, signal);
  const ref = `refs/heads/${branchOf(ground, task)}`;
  const tip = await readRef(commonDir, ref, signal);
  const isSound = tip !== null && (await areRelated(dir, tip, base, signal));
  if (!isSound) await setRef(commonDir, ref, base, signal);
  await git(dir, ['symbolic-ref', 'HEAD', ref], signal);
  await git(dir, ['reset', '-q', '--mixed'], signal, FILLING);
}

/** Where a branch of a task's own begins: at the base, or at work that was there before the run. */
function beginningOf({ start, base }: WorkspaceOrder): Sha {
  return start.kind === 'rework' ? start.commit : base;
}

/**
 * A branch whose name does not tell the run may be there already. One that the base contains is
 * brought to the base; any other holds somebody's work and is left alone.
 */
async function adoptBranch(
  { repository, run }: Ground,
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
  ground: Ground,
  order: WorkspaceOrder & { readonly branch: string; readonly dir: string },
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = ground.repository;
  if (isWaiting(order.dir)) await ground.pool.drain([order.dir], signal);
  if (order.attempt > 1) await clearPlace(commonDir, order, signal);
  await mkdir(dirname(order.dir), { recursive: true });
  const goesOn = order.start.kind !== 'fresh';
  const tip =
    order.attempt > 1 ? await readRef(commonDir, `refs/heads/${order.branch}`, signal) : null;
  if (tip !== null && !goesOn) await keepTip(ground, order, tip, signal);
  if (tip !== null && !goesOn)
    await setRef(commonDir, `refs/heads/${order.branch}`, order.base, signal);
  const commit = goesOn && tip !== null ? tip : beginningOf(order);
  const owner = ownerName(ground, order.task);
  const cone = await coneFor(ground, { task: order.task, commit }, signal);
  const { dir: path, branch } = order;
  const { assertHeld } = ground;
  const began = performance.now();
  const wanted = { path, branch, commit, owner, cone, assertHeld };
  const filledAt = await addWorktree(commonDir, wanted, signal);
  ground.pool.coming.learn(performance.now() - began);
  ground.pool.begin(path, filledAt);
}

/**
 * What an engine that died while it made the workspace left: a folder, an entry, or both. Files in
 * a folder that is no worktree any more are an agent's: they stay, beside.
 */
async function clearPlace(
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

/** Where what an attempt has left is moved if nothing else is known to do with it. */
function asideOf(dir: string, attempt: number): string {
  const name = `${dir}.left-${attempt}`;
  return existsSync(name) ? `${name}-${randomUUID()}` : name;
}

/** A branch without a worktree is about to be moved: keep what it holds. */
async function keepTip(
  ground: Ground,
  { task, attempt, base }: WorkspaceOrder,
  tip: Sha,
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = ground.repository;
  if (await isAncestor(commonDir, tip, base, signal)) return;
  const ref = keptRef(ground.run, `${task}.${attempt - 1}`);
  await setRef(commonDir, ref, tip, signal);
}

/** Back to the base: what the attempts before left is kept first. */
async function resetTo(
  ground: Ground,
  { task, attempt, base }: WorkspaceOrder,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const ref = keptRef(ground.run, `${task}.${attempt - 1}`);
  const message = `Left by attempt ${attempt - 1} of ${task}`;
  await keepWork(dir, { ref, message, beyond: base }, signal);
  await keepAside(ground, task, dir, signal);
  await forgetSpoiltSetup(ground, dir, signal);
  if (isRebasing(dir)) await git(dir, ['rebase', '--quit'], signal, { okCodes: [0, 1, 128] });
  const branch = branchOf(ground, task);
  await git(dir, ['checkout', '-q', '-f', '-B', branch, base], signal, FILLING);
  const cone = coneOf(dir);
  if (cone !== null) await setCone(dir, cone, signal); // An agent may have checked out more.
  await cleanWorkspace(dir, signal);
}

/**
 * The finished work merged with the head it did not land on; conflicts stay in the files. An
 * attempt that merely goes on finds its base there already, or the merge still in progress.
 */
async function layOut(order: WorkspaceOrder, dir: string, signal: AbortSignal): Promise<void> {
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
