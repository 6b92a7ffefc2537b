/**
 * Worktrees in which gates run on candidates. A slot is used by one gate at a time, and its folder
 * is reused. It holds the files of one commit and the results of set-up, nothing of an earlier
 * candidate: where that is not certain (restore.ts), it is replaced.
 */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, OperationalError } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import { filesBetween } from '../git/diff.ts';
import { git } from '../git/git.ts';
import { isLinked, isWorkingTree } from '../git/git-dir.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { isAttributes } from '../git/merge-attributes.ts';
import { headOf } from '../git/refs.ts';
import { addWorktree, FILLING, removeWorktree } from '../git/worktree.ts';
import type { Sha } from '../model/plan.ts';
import { gateDir } from '../workspace/folders.ts';
import { forgetMoves, restore } from '../workspace/restore.ts';
import type { RunContext } from '../workspace/run-context.ts';
import { keepSetup } from '../workspace/setup.ts';

/** Takes a gate workspace and brings it to a commit; without set-up. */
export async function openGateWorkspace(
  context: RunContext,
  commit: Sha,
  signal: AbortSignal,
): Promise<Disposable & { readonly dir: string; readonly mark: string }> {
  const slot = context.session.gateSlots.take();
  const dir = gateDir(context, slot.number);
  try {
    await moveTo(context, dir, commit, signal);
  } catch (error) {
    slot[Symbol.dispose]();
    throw error;
  }
  return { dir, mark: slot.mark, [Symbol.dispose]: () => slot[Symbol.dispose]() };
}

/** Brings the gate workspace to a commit, making it where it is missing or not to be trusted. */
export async function moveTo(
  context: RunContext,
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<void> {
  if (isWorkingTree(dir) && (await moveOn(context, dir, commit, signal))) return;
  makeFolder(dirname(dir));
  const { commonDir } = context.repository;
  if (!isLinked(commonDir, dir)) await rm(dir, { recursive: true, force: true });
  await removeWorktree(commonDir, dir, signal); // Git may still list one that is gone.
  const { assertHeld } = context;
  const wanted = { dir, commit, branch: null, owner: null, assertHeld };
  if (await context.pool.take(wanted, signal)) return;
  const added = { path: dir, branch: null, commit, assertHeld };
  context.pool.begin(dir, await addWorktree(commonDir, added, signal));
}

function makeFolder(folder: string): void {
  try {
    makeFolders(folder);
  } catch (error) {
    throw new OperationalError(`No folder for gates can be made: ${messageOf(error)}`, {
      remedy: 'Name one outside of the checkout: workspace.dir.',
      cause: error,
    });
  }
}

/** Moves a used one to a commit; false where traces of an earlier candidate may be left. */
async function moveOn(
  context: RunContext,
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<boolean> {
  const { commonDir } = context.repository;
  await removeStaleLocks({ commonDir, dir, branch: null }, signal);
  context.assertHeld(); // Another engine may be running its gates there.
  const keep = await keepSetup(dir, signal);
  const used = { dir, since: context.pool.sinceOf(dir), keep, bare: false, flagged: null };
  if ((await restore(used, signal)) === null) return false;
  const before = await headOf(dir, signal);
  if (before === null) return false;
  // Other attributes write the same content as another file.
  if ((await filesBetween(commonDir, before, commit, signal)).some(isAttributes)) return false;
  const target = ['--no-recurse-submodules', '--detach', commit];
  await git(dir, ['checkout', '-q', '-f', ...target], signal, FILLING);
  await forgetMoves(dir, signal);
  if (existsSync(join(dir, '.gitmodules'))) return false; // They contain absolute paths.
  context.pool.begin(dir, Date.now());
  return true;
}
