/**
 * floor: the worktree over which the workspaces of a run are mounted (git/overlay.ts), where the
 * plan wants that and the machine can.
 *
 *   F1. A run has one, at the commit with which its first workspace began; it comes from the pool
 *       where that has one. Nobody changes it.
 *   F2. One that is half made is made anew: a note in its git folder says that it is whole.
 *   F3. It goes when the run is tidied up, unless a workspace is kept that is mounted over it.
 */

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isWorkingTree, readOwn, writeOwn } from '../git/git-dir.ts';
import { type Floor, overlayProblem } from '../git/overlay.ts';
import { addWorktree, removeWorktree } from '../git/worktree.ts';
import type { Sha } from '../model/plan.ts';
import { type Ground, runFolder } from './ground.ts';

const WHOLE = 'landfast-floor';
const TRY_LIMIT_MS = 60_000;
const FLOOR_LIMIT_MS = 60 * 60_000;

const problems = new WeakMap<Ground, Promise<string | null>>();
const floors = new WeakMap<Ground, Promise<Floor>>();

/** Where the floor of a run is; task ids never start with a dot. */
export function floorDir(ground: Ground): string {
  return join(runFolder(ground), '.floor');
}

/** Why the workspaces of a run cannot be mounts, as its plan wants it; null where they can. */
export function mountProblem(ground: Ground): Promise<string | null> {
  if (ground.plan.workspace.overlay !== true) return Promise.resolve(null);
  const known = problems.get(ground) ?? lookForProblem(ground);
  problems.set(ground, known);
  return known;
}

async function lookForProblem(ground: Ground): Promise<string | null> {
  const limit = AbortSignal.timeout(TRY_LIMIT_MS);
  return overlayProblem(ground.repository.commonDir, runFolder(ground), limit);
}

/** The floor for a workspace at a commit; null where it has to be filled. */
export async function floorFor(
  ground: Ground,
  commit: Sha,
  signal: AbortSignal,
): Promise<Floor | null> {
  if (ground.plan.workspace.overlay !== true || (await mountProblem(ground)) !== null) return null;
  let floor = floors.get(ground);
  if (floor === undefined) {
    // Not by the signal of whoever comes first: others wait for it, too.
    floor = makeFloor(ground, commit, AbortSignal.timeout(FLOOR_LIMIT_MS));
    floor.catch(() => floors.delete(ground)); // Whoever comes next tries again.
    floors.set(ground, floor);
  }
  const made = await floor;
  signal.throwIfAborted();
  return made;
}

async function makeFloor(ground: Ground, commit: Sha, signal: AbortSignal): Promise<Floor> {
  const { commonDir } = ground.repository;
  const dir = floorDir(ground);
  const before = (await isWorkingTree(dir)) ? await readOwn(dir, WHOLE) : null;
  if (before !== null) return { dir, commit: before };
  await removeWorktree(commonDir, dir, signal);
  await rm(dir, { recursive: true, force: true });
  await mkdir(runFolder(ground), { recursive: true });
  const { assertHeld } = ground;
  const wanted = { dir, commit, branch: null, owner: null, assertHeld };
  if (!(await ground.pool.take(wanted, signal))) {
    await addWorktree(commonDir, { path: dir, branch: null, commit, assertHeld }, signal);
  }
  await writeOwn(dir, WHOLE, commit);
  return { dir, commit };
}
