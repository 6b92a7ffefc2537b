/**
 * restore: a workspace as if nothing had ever happened in it.
 *
 *   Z1. Afterwards git checks out any commit into it as into a new one: every file is as git wrote
 *       it, or missing; nothing else is there but what is named; the index hides nothing.
 *   Z2. Where that cannot be said for sure (nobody knows since when something may have happened, it
 *       has submodules or settings of its own, something of git's is half done) the answer is null,
 *       and the caller makes a new one.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isSetBack, type Moment } from '../base/moment.ts';
import { removeUntracked } from '../git/clean.ts';
import { git } from '../git/git.ts';
import { gitDirOf } from '../git/git-dir.ts';
import { flaggedIn } from '../git/hidden.ts';
import { coneOf } from '../git/sparse.ts';
import { type Found, findTouched, removeFound } from './touched.ts';

export interface ToRestore {
  readonly dir: string;
  /** When it was last known to hold nothing but a commit's files; null for never. */
  readonly since: Moment | null;
  /** Paths that stay: ignored files and folders. */
  readonly keep: readonly string[];
  /** Git has just said that no file is there that no commit holds. */
  readonly bare: boolean;
  /** Git was told not to look at some files; null if unknown. */
  readonly flagged: boolean | null;
  /** The touched files, if they were just looked up. */
  readonly found?: Found | null;
}

/** What the git folder of a worktree may hold without anything being half done, or set. */
const PLAIN = new Set([
  ...['HEAD', 'commondir', 'gitdir', 'index', 'logs', 'ORIG_HEAD', 'COMMIT_EDITMSG'],
  ...['fsmonitor--daemon', 'fsmonitor--daemon.ipc'],
]);
const PART_OF_INDEX = /^sharedindex\.[0-9a-f]+$/;

/** Removes from a workspace whatever git did not put there; null where it has to be made anew. */
export async function restore(what: ToRestore, signal: AbortSignal): Promise<Found | null> {
  const { dir, since, keep, bare, flagged } = what;
  if (since === null || isSetBack(since) || coneOf(dir) !== null || !isPlain(dir)) return null;
  try {
    const found = what.found ?? (await findTouched({ dir, since: since.at, keep }, signal));
    removeFound(dir, found);
    if (flagged ?? (await flaggedIn(dir, signal)).length > 0) {
      await git(dir, ['read-tree', '--empty'], signal); // Git writes every file again.
    }
    if (!bare) await removeUntracked(dir, keep, signal);
    return found;
  } catch (error) {
    if (signal.aborted) throw error;
    return null; // Another user's file, or anything else unforeseen.
  }
}

function isPlain(dir: string): boolean {
  if (existsSync(join(dir, '.gitmodules'))) return false;
  const gitDir = gitDirOf(dir);
  return readdirSync(gitDir).every((name) =>
    name === 'refs'
      ? isEmptyBelow(join(gitDir, name))
      : PLAIN.has(name) || PART_OF_INDEX.test(name),
  );
}

/** Refs of its own, such as those of a bisection, would be seen by the next task. */
function isEmptyBelow(folder: string): boolean {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return found.every((entry) => entry.isDirectory());
}

/**
 * Where HEAD was before is nobody's business: `git checkout -` would lead there. Git goes on with
 * a log that is there, so this comes after the checkout for the next task.
 */
export async function forgetMoves(dir: string, signal: AbortSignal): Promise<void> {
  const log = statSync(join(gitDirOf(dir), 'logs', 'HEAD'), { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  await git(dir, ['reflog', 'expire', '--expire=now', 'HEAD'], signal);
}
