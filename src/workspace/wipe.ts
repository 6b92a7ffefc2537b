/**
 * wipe: a workspace as if no task had ever been in it.
 *
 *   Z1. Afterwards every tracked file is as its commit has it, with its mode; every other file and
 *       folder is gone, but those that are named; the worktree's git folder is that of a new one.
 *   Z2. What git does not look at is looked for: modes beyond "executable", pipes and sockets, files
 *       that somebody could still write through another name, empty folders, repositories inside.
 *   Z3. Whatever cannot be made so is refused, and nothing is lost by that: the caller has kept the
 *       work and removes the workspace instead.
 */

import { existsSync } from 'node:fs';
import { chmod, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteFolder } from '../git/delete-folder.ts';
import { gitDirOf } from '../git/git-dir.ts';
import { readIndexFile } from '../git/index-file.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { forgetMoves, isRestored, removeUntracked, restoreFiles, scrub } from '../git/scrub.ts';
import type { Sha } from '../model/plan.ts';
import { isAsWiped } from './glance.ts';
import { lookThrough, modesIn } from './odd.ts';

export interface ToWipe {
  readonly dir: string;
  /** Where HEAD is. */
  readonly commit: Sha;
  /** Its tracked files are as the commit has them, no other would be committed, nothing runs. */
  readonly pristine: boolean;
  /** When it was last known to hold nothing but a commit's files; null for never. */
  readonly since: number | null;
  /** Since then its files were compared with the index to the microsecond, not by git. */
  readonly isExact: boolean;
  /** Paths that stay: ignored files and folders. */
  readonly keep: readonly string[];
  /** Files of the worktree's git folder that stay. */
  readonly notes: readonly string[];
}

/** More than that is faster to make anew. */
const MOST_ODD = 10_000;
/** A folder that could not be entered may hold another one. */
const MOST_ROUNDS = 8;

/** Wipes a workspace that holds nothing of value; false where that is not possible. */
export async function wipe(what: ToWipe, signal: AbortSignal): Promise<boolean> {
  const { dir, commit, keep } = what;
  const gitDir = await gitDirOf(dir);
  if (hasSubmodules(dir, gitDir)) return false; // They know where they are.
  await removeStaleLocks(dir, signal);
  const odd = await removeOdd(what, signal);
  if (odd === 'too odd') return false;
  const isTrusted = await scrub(dir, { commit, keep: what.notes }, signal);
  if (what.pristine && isTrusted && odd === 'none') return true;
  await restoreFiles(dir, signal);
  await removeUntracked(dir, keep, signal);
  await forgetMoves(dir);
  // The commit may hold submodules although what the task left did not.
  return !hasSubmodules(dir, gitDir) && (await isRestored(dir, signal));
}

function hasSubmodules(dir: string, gitDir: string): boolean {
  if (existsSync(join(dir, '.gitmodules')) || existsSync(join(gitDir, 'modules'))) return true;
  return readIndexFile(gitDir)?.hasSubmodule === true;
}

/**
 * Removes what git would not see, or not as it should be; git writes the tracked ones again. Says
 * `none` where there is nothing but the files of the commit, all as they should be.
 */
async function removeOdd(
  { dir, keep, pristine, since, isExact }: ToWipe,
  signal: AbortSignal,
): Promise<'none' | 'something' | 'too odd'> {
  const modes = modesIn(dir);
  const gitDir = await gitDirOf(dir);
  const mayGlance = pristine && since !== null && keep.length === 0;
  if (mayGlance && isAsWiped({ dir, gitDir, since, isExact, modes })) return 'none';
  const index = pristine ? readIndexFile(gitDir) : null;
  const files = index === null || index.form === 'unknown' ? null : index.files;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const look = { dir, keep, files, modes };
    const { odd, hasMore, isComplete } = await lookThrough(look, signal);
    if (odd.length === 0 && isComplete) return round === 0 && !hasMore ? 'none' : 'something';
    if (odd.length === 0 || odd.length > MOST_ODD) return 'too odd';
    for (const { path, kind } of odd) {
      if (kind === 'folder') await chmod(path, modes.folder);
      else if (kind === 'file') await unlink(path);
      else await deleteFolder(path.toString(), signal);
    }
  }
  return 'too odd';
}
