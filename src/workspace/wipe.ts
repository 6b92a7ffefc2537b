/**
 * wipe: a workspace as if no task had ever been in it.
 *
 *   Z1. Afterwards every tracked file is as its commit has it, with its mode; every other file and
 *       folder is gone, but those that are named; the worktree's git folder is that of a new one.
 *   Z2. What git does not look at is looked for: modes beyond "executable", pipes and sockets, files
 *       that somebody could still write through another name, empty folders.
 *   Z3. Whatever cannot be made so is refused, and nothing is lost by that: the caller has kept the
 *       work and removes the workspace instead.
 */

import { existsSync, lstatSync, statSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { literalPattern } from '../git/exclude.ts';
import { splitNul } from '../git/git.ts';
import { gitDirOf } from '../git/git-dir.ts';
import { readIndexFile } from '../git/index-file.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { forgetMoves, isRestored, removeUntracked, restoreFiles, scrub } from '../git/scrub.ts';
import type { Sha } from '../model/plan.ts';
import { capture } from '../process/capture.ts';

export interface ToWipe {
  readonly dir: string;
  /** Where HEAD is. */
  readonly commit: Sha;
  /** git has found nothing in it beyond the commit, not even ignored files, and nothing runs. */
  readonly pristine: boolean;
  /** Paths that stay: ignored files and folders. */
  readonly keep: readonly string[];
  /** Files of the worktree's git folder that stay. */
  readonly notes: readonly string[];
}

/** More than that is faster to make anew. */
const MOST_ODD = 10_000;
/** A folder that could not be entered may hold another one. */
const MOST_ROUNDS = 8;
const FIND_LIMIT_MS = 10 * 60_000;

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
  await removeUntracked(dir, keep.map(literalPattern), signal);
  await forgetMoves(dir);
  // The commit may hold submodules although what the task left did not.
  return !hasSubmodules(dir, gitDir) && (await isRestored(dir, signal));
}

function hasSubmodules(dir: string, gitDir: string): boolean {
  if (existsSync(join(dir, '.gitmodules')) || existsSync(join(gitDir, 'modules'))) return true;
  return readIndexFile(gitDir)?.hasSubmodule === true;
}

/** Removes what git would not see, or not as it should be; git writes the tracked ones again. */
async function removeOdd(
  { dir, keep, pristine }: ToWipe,
  signal: AbortSignal,
): Promise<'none' | 'removed' | 'too odd'> {
  const modes = modesIn(dir);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const empty = pristine && round === 0; // Otherwise git removes them anyway.
    const { paths, isComplete } = await findOdd({ dir, keep, empty, modes }, signal);
    if (paths.length === 0 && isComplete) return round === 0 ? 'none' : 'removed';
    if (paths.length === 0 || paths.length > MOST_ODD) return 'too odd';
    for (const path of paths.map((each) => join(dir, each))) {
      const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
      await (isFolder ? chmod(path, modes.folder) : rm(path, { force: true }));
    }
  }
  return 'too odd';
}

interface Modes {
  readonly file: number;
  readonly program: number;
  readonly folder: number;
}

/** What git would give new files and folders here. */
function modesIn(dir: string): Modes {
  const allowed = ~process.umask();
  const inherited = statSync(dirname(dir)).mode & SET_GROUP;
  return {
    file: 0o666 & allowed,
    program: 0o777 & allowed,
    folder: (0o777 & allowed) | inherited,
  };
}

const SET_GROUP = 0o2000;

/** Files and folders that are not as in a new checkout; `isComplete` if all could be looked at. */
async function findOdd(
  look: Pick<ToWipe, 'dir' | 'keep'> & { readonly empty: boolean; readonly modes: Modes },
  signal: AbortSignal,
): Promise<{ readonly paths: readonly string[]; readonly isComplete: boolean }> {
  const { dir, keep, empty, modes } = look;
  const isNot = (mode: number): string[] => ['!', '-perm', mode.toString(8).padStart(4, '0')];
  const prune = ['.git', ...keep].flatMap((path) => [
    ...['-path', `./${path.replace(/\/$/, '').replace(/[\\*?[\]]/g, '\\$&')}`],
    ...['-prune', '-o'],
  ]);
  const odd = [
    ['-type', 'd', ...isNot(modes.folder)],
    ['-type', 'f', ...isNot(modes.file), ...isNot(modes.program)],
    ['-type', 'f', '-links', '+1'],
    ['!', '-type', 'd', '!', '-type', 'f', '!', '-type', 'l'],
    ...(empty ? [['-type', 'd', '-empty']] : []),
  ].flatMap((test, index) => (index === 0 ? test : ['-o', ...test]));
  const args = ['.', ...prune, '(', ...odd, ')', '-print0'];
  const command = { file: 'find', args, cwd: dir, env: process.env, stdin: '' };
  const { exit, stdout } = await capture({ ...command, limitMs: FIND_LIMIT_MS }, signal);
  if (exit.kind === 'aborted' && signal.aborted) throw exit.reason;
  const isComplete = exit.kind === 'exited' && exit.code === 0;
  return { paths: splitNul(stdout), isComplete };
}
