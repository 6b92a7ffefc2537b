/**
 * Lets a checkout follow its branch to a newer commit, as `git merge --ff-only` does.
 *
 *   O1. What the user has changed is never touched: git checks every file before it writes any.
 *   O2. Hooks run, but what they do afterwards does not change the answer.
 */

import { GitTimeoutError, git, LONG_LIMIT_MS, type Sha, textOf } from './git.ts';
import { isAncestor } from './refs.ts';
import { headBranch } from './repository.ts';

/** Whether a checkout could follow. */
export type Followed =
  | { readonly kind: 'followed' }
  /** Local changes or untracked files would be overwritten; nothing was touched. */
  | { readonly kind: 'in-the-way'; readonly message: string }
  /** The checkout has commits that the new one has not. */
  | { readonly kind: 'diverged' };

/** Moves what is checked out, branch and files, forward to a commit. */
export async function fastForward(
  checkoutDir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<Followed> {
  const failure = await merge(checkoutDir, commit, signal);
  if (failure === null) return { kind: 'followed' };
  const head = await headBranch(checkoutDir, signal);
  if (head.kind === 'unborn') return { kind: 'in-the-way', message: failure };
  if (head.commit === commit) return { kind: 'followed' }; // It was a hook that failed.
  if (!(await isAncestor(checkoutDir, head.commit, commit, signal))) return { kind: 'diverged' };
  return { kind: 'in-the-way', message: failure };
}

/** What git said if it failed, or null. */
async function merge(dir: string, commit: Sha, signal: AbortSignal): Promise<string | null> {
  const args = ['merge', '--ff-only', '--no-autostash', '--quiet', commit];
  try {
    const options = { okCodes: [0, 1, 2, 128], limitMs: LONG_LIMIT_MS };
    const result = await git(dir, args, signal, options);
    return result.code === 0 ? null : textOf(result);
  } catch (error) {
    if (error instanceof GitTimeoutError) return error.message;
    throw error;
  }
}
