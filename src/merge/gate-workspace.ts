/**
 * gate-workspace: a working tree for trying candidates, which nobody works in.
 *
 *   G1. Nobody else uses one while it is taken; the folders are used again and again.
 *   G2. It holds a commit's files and nothing of an earlier one's but what set-up made.
 */

import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { git, LONG_LIMIT_MS } from '../git/git.ts';
import { isWorkingTree } from '../git/git-dir.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { addWorktree, removeWorktree } from '../git/worktree.ts';
import type { Sha } from '../model/plan.ts';
import { cleanWorkspace } from '../workspace/bring.ts';
import { type Ground, gateDir } from '../workspace/ground.ts';

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

/** Brings the gate workspace to a commit, making it where it is missing or broken. */
export async function moveTo(
  ground: Ground,
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = ground.repository;
  if (await isWorkingTree(dir)) {
    const limit = { limitMs: LONG_LIMIT_MS };
    await removeStaleLocks(dir, signal); // The slot is ours: whoever left one is dead.
    ground.assertHeld(); // Another engine would find other files under its gates.
    await git(dir, ['checkout', '-q', '-f', '--detach', commit], signal, limit);
    await cleanWorkspace(dir, signal);
    return;
  }
  await rm(dir, { recursive: true, force: true });
  await removeWorktree(commonDir, dir, signal); // Git may still know of one that is gone.
  const { assertHeld } = ground;
  const wanted = { dir, commit, branch: null, owner: null, assertHeld };
  if (await ground.pool.take(wanted, signal)) return;
  await mkdir(dirname(dir), { recursive: true });
  await addWorktree(commonDir, { path: dir, branch: null, commit, assertHeld }, signal);
}
