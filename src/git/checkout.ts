/** A worktree that holds nothing of value, brought to a commit by git, whatever is in the way. */

import { git, LONG_LIMIT_MS } from './git.ts';
import { CHECKOUT_WORKERS } from './scrub.ts';
import { ANY_CONE, type Cone, coneOf, dropCone, isConeChanged, setCone } from './sparse.ts';

/** Moves a worktree to a branch or commit, with the folders of a cone; null for all. */
export async function checkOut(
  dir: string,
  { target, cone }: { readonly target: readonly string[]; readonly cone: Cone | null },
  signal: AbortSignal,
): Promise<void> {
  const isOther = isConeChanged(dir) || JSON.stringify(coneOf(dir)) !== JSON.stringify(cone);
  await setCone(dir, cone);
  await git(dir, ['checkout', '-q', '-f', '--no-recurse-submodules', ...target], signal, {
    config: {
      'core.hooksPath': '/dev/null', // Its hook is run as in a new worktree, which this is to all.
      ...CHECKOUT_WORKERS,
      ...(isOther ? ANY_CONE : {}),
    },
    limitMs: LONG_LIMIT_MS,
  });
  await dropCone(dir);
}
