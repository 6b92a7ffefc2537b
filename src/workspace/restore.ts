/**
 * restore: returns a used workspace to the state of a fresh checkout: every file is as git wrote
 * it, or missing; only files in `keep` are left besides; the index hides nothing. Where that is not
 * certain (the time of the last checkout is unknown, the worktree has submodules or settings of its
 * own, a git operation is unfinished) the answer is null, and the caller makes a new worktree.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { rethrowBug } from '../base/errors.ts';
import { isSetBack, type Moment } from '../base/steady-clock.ts';
import { git } from '../git/git.ts';
import { commonDirOf, gitDirOf } from '../git/git-dir.ts';
import { coneOf } from '../git/sparse.ts';
import { flaggedIn } from '../git/status.ts';
import { removeUntracked } from '../git/untracked.ts';
import {
  findTouched,
  isUntouched,
  removeFound,
  SLACK_MS,
  type TouchedFiles,
} from './touched-files.ts';

export interface FilesKnown {
  /** It holds no untracked file, not even an ignored one. */
  readonly bare: boolean;
  /** The index has skip-worktree or assume-unchanged flags; null if unknown. */
  readonly flagged: boolean | null;
  /** The touched files, if already known. */
  readonly found?: TouchedFiles | null;
}

interface ToRestore extends FilesKnown {
  readonly dir: string;
  /** When it last held nothing but a commit's files; null if unknown. */
  readonly since: Moment | null;
  readonly keep: readonly string[];
}

/** Files in the git folder of a worktree without unfinished operations or own settings. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['HEAD', 'commondir', 'gitdir', 'index', 'logs', 'ORIG_HEAD', 'COMMIT_EDITMSG'],
  ...['fsmonitor--daemon', 'fsmonitor--daemon.ipc'],
]);
const PART_OF_INDEX = /^sharedindex\.[0-9a-f]+$/;

/** Removes everything git did not write; null where a new worktree is needed. */
export async function restore(what: ToRestore, signal: AbortSignal): Promise<TouchedFiles | null> {
  const { dir, since, keep, bare, flagged } = what;
  if (since === null || isSetBack(since) || coneOf(dir) !== null || !(await isPlain(dir)))
    return null;
  try {
    const found = what.found ?? (await findTouched({ dir, since: since.at, keep }, signal));
    if (isUntouched(found) && isGitOlder(dir, since.at - SLACK_MS)) return found;
    await removeFound(dir, found);
    if (flagged ?? (await flaggedIn(dir, signal)).length > 0) {
      await git(dir, ['read-tree', '--empty'], signal); // Git writes every file again.
    }
    if (!bare) await removeUntracked(dir, keep, signal);
    return found;
  } catch (error) {
    rethrowBug(error);
    if (signal.aborted) throw error;
    return null; // Another user's file, for example.
  }
}

async function isPlain(dir: string): Promise<boolean> {
  if (existsSync(join(dir, '.gitmodules'))) return false;
  const gitDir = gitDirOf(dir);
  const names = readdirSync(gitDir).filter((name) => !PLAIN.has(name) && !PART_OF_INDEX.test(name));
  if (names.some((name) => name !== 'refs')) return false;
  return names.length === 0 || isEmptyBelow(join(gitDir, 'refs'));
}

/** Refs of its own, such as those of a bisection, would be seen by the next task. */
async function isEmptyBelow(folder: string): Promise<boolean> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.every((entry) => entry.isDirectory());
}

/**
 * Clears HEAD's reflog, so that `git checkout -` does not lead to an earlier task's commit. Git
 * appends to an existing log, so this runs after the checkout for the next task.
 */
export async function forgetMoves(dir: string, signal: AbortSignal): Promise<void> {
  const log = statSync(join(gitDirOf(dir), 'logs', 'HEAD'), { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  await git(dir, ['reflog', 'expire', '--expire=now', 'HEAD'], signal);
}

/**
 * Identifies the index and HEAD of a worktree by inode and ctime: staging, a flag in the index and a
 * switch of branches replace these files. Null where git keeps its refs in a reftable.
 */
export function gitStateOf(dir: string): string | null {
  if (existsSync(`${commonDirOf(dir)}/reftable`)) return null;
  const prints = ['index', 'HEAD'].map((name) => {
    const stat = statSync(`${gitDirOf(dir)}/${name}`, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? '' : `${stat.ino}.${stat.ctimeNs}`;
  });
  return prints.includes('') ? null : prints.join(' ');
}

/** Whether index and HEAD are older than a time; false where their files do not tell. */
function isGitOlder(dir: string, timeMs: number): boolean {
  if (gitStateOf(dir) === null) return false;
  return ['index', 'HEAD'].every((name) => statSync(`${gitDirOf(dir)}/${name}`).ctimeMs < timeMs);
}
