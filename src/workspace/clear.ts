/**
 * clear: a workspace that comes out of the pool holds no file that its new task may not find.
 *
 *   C1. What an earlier plan kept, or what somebody put there while it waited, goes, unless this
 *       plan keeps it and git ignores it at the new commit.
 *   C2. A set-up of which a part went is not done any more.
 */

import { removeUntracked } from '../git/scrub.ts';
import { ignoredMatching } from '../git/untracked.ts';
import { forgetSetup, isThere, setupIn } from './setup.ts';

/** Removes it; says whether nothing is left but files of the commit. */
export async function clear(
  dir: string,
  keepFiles: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const keep = keepFiles.length === 0 ? [] : await ignoredMatching(dir, keepFiles, signal);
  await removeUntracked(dir, keep, signal);
  const setup = await setupIn(dir);
  if (setup !== null && !isThere(dir, setup)) await forgetSetup(dir);
  return keep.length === 0;
}
