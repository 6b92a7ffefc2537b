/**
 * gate-workspace: a working tree for trying candidates, which nobody works in.
 *
 *   G1. Nobody else uses one while it is taken; the folders are used again and again.
 *   G2. It holds a commit's files and nothing of an earlier one's but what set-up made: where that
 *       cannot be said for sure (restore.ts), it is made anew.
 */

import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isNameChanged } from '../git/diff.ts';
import { git } from '../git/git.ts';
import { isWorkingTree } from '../git/git-dir.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { headOf } from '../git/refs.ts';
import { addWorktree, FILLING, removeWorktree } from '../git/worktree.ts';
import { isLinked } from '../git/worktree-link.ts';
import type { Sha } from '../model/plan.ts';
import { type Ground, gateDir } from '../workspace/ground.ts';
import { forgetMoves, restore } from '../workspace/restore.ts';
import { keepSetup } from '../workspace/setup.ts';

/** Takes a gate workspace and brings it to a commit; without set-up. */
export async function openGateWorkspace(
  ground: Ground,
  commit: Sha,
  signal: AbortSignal,
): Promise<Disposable & { readonly dir: string; readonly mark: string }> {
  const slot = takeSlot(ground);
  const dir = gateDir(ground, slot.number);
  try {
    await moveTo(ground, dir, commit, signal);
  } catch (error) {
    slot[Symbol.dispose]();
    throw error;
  }
  return { dir, mark: slot.mark, [Symbol.dispose]: () => slot[Symbol.dispose]() };
}

const slots = new WeakMap<Ground, Set<number>>();

/** The first place for a gate workspace that nobody uses. */
export function takeSlot(
  ground: Ground,
): Disposable & { readonly number: number; readonly mark: string } {
  const used = slots.get(ground) ?? new Set();
  slots.set(ground, used);
  let number = 0;
  while (used.has(number)) number += 1;
  used.add(number);
  const mark = `${ground.run}/gate.${number}`;
  return { number, mark, [Symbol.dispose]: () => void used.delete(number) };
}

/** Brings the gate workspace to a commit, making it where it is missing or not to be trusted. */
export async function moveTo(
  ground: Ground,
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<void> {
  if (isWorkingTree(dir) && (await moveOn(ground, dir, commit, signal))) return;
  const { commonDir } = ground.repository;
  if (!isLinked(commonDir, dir)) await rm(dir, { recursive: true, force: true });
  await removeWorktree(commonDir, dir, signal); // Git may still know of one that is gone.
  const { assertHeld } = ground;
  const wanted = { dir, commit, branch: null, owner: null, assertHeld };
  if (await ground.pool.take(wanted, signal)) return;
  await mkdir(dirname(dir), { recursive: true });
  const added = { path: dir, branch: null, commit, assertHeld };
  ground.pool.begin(dir, await addWorktree(commonDir, added, signal));
}

const ATTRIBUTES = '.gitattributes';

/** Moves one in which an earlier candidate was tried; false where traces of that may be left. */
async function moveOn(
  ground: Ground,
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<boolean> {
  const { commonDir } = ground.repository;
  await removeStaleLocks({ commonDir, dir, branch: null }, signal); // The slot is ours.
  ground.assertHeld(); // Another engine would find other files under its gates.
  const keep = await keepSetup(dir, signal);
  const since = ground.pool.sinceOf(dir);
  if ((await restore({ dir, since, keep, bare: false, flagged: null }, signal)) === null) {
    return false;
  }
  const before = await headOf(dir, signal);
  // Other attributes write the same content as another file.
  if (before === null || (await isNameChanged(commonDir, before, commit, ATTRIBUTES, signal))) {
    return false;
  }
  const target = ['--no-recurse-submodules', '--detach', commit];
  await git(dir, ['checkout', '-q', '-f', ...target], signal, FILLING);
  await forgetMoves(dir, signal);
  if (existsSync(join(dir, '.gitmodules'))) return false; // They know where they are.
  ground.pool.begin(dir, Date.now());
  return true;
}
