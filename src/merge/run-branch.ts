/** The run's branch, from birth to the moment when the target holds all of it. */

import { deleteRef, isAncestor, readRef, updateRef } from '../git/refs.ts';
import type { Sha } from '../model/plan.ts';
import { type Ground, runRef } from '../workspace/ground.ts';
import { removeGateWorkspaces } from '../workspace/remove.ts';

/** Makes sure the run's branch exists; a resumed run finds it where it left it. */
export async function openRunBranch(ground: Ground, head: Sha, signal: AbortSignal): Promise<void> {
  const { commonDir } = ground.repository;
  const tip = await readRef(commonDir, runRef(ground), signal);
  if (tip === null) {
    await updateRef(commonDir, runRef(ground), { to: head, from: null }, signal);
  }
}

/**
 * Tidies up after a run: gate workspaces go, and the branch too if the target holds all of it and
 * nothing is left to resume.
 */
export async function closeRunBranch(
  ground: Ground,
  end: { readonly target: string | null; readonly resumable: boolean },
  signal: AbortSignal,
): Promise<void> {
  await removeGateWorkspaces(ground, signal);
  const { commonDir } = ground.repository;
  if (end.resumable || end.target === null) return;
  const ref = runRef(ground);
  const tip = await readRef(commonDir, ref, signal);
  if (tip === null || !(await isAncestor(commonDir, tip, `refs/heads/${end.target}`, signal)))
    return;
  await deleteRef(commonDir, ref, tip, signal);
}
