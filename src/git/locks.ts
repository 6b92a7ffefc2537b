/** Lock files that a killed git left behind. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gitDirOf } from './git-dir.ts';

const LOCKS = ['index.lock', 'HEAD.lock'];

/**
 * Removes the locks of one worktree. Only for a worktree of our own in which surely no process is
 * alive any more: a lock that is held protects the index.
 */
export async function removeStaleLocks(dir: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const gitDir = await gitDirOf(dir);
  await Promise.all(LOCKS.map((name) => rm(join(gitDir, name), { force: true })));
}
