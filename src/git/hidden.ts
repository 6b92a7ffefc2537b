/**
 * What git does not show of a worktree: changes of tracked files that it takes for unchanged,
 * because the index says so, or because it was not told which folders are checked out.
 *
 *   H1. An index whose every entry git looks at costs a look at its file, and no process.
 *   H2. Looking changes nothing: flags are taken away in a copy of the index.
 */

import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { git, LONG_LIMIT_MS, splitNul } from './git.ts';
import { gitDirOf } from './git-dir.ts';
import { copyIndex, readIndexFile } from './index-file.ts';
import { removeStaleLocks } from './locks.ts';
import { coneOf } from './sparse.ts';

/** Files that are there and differ from the index, though git was told not to look at them. */
export async function hiddenChanges(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const gitDir = await gitDirOf(dir);
  if ((readIndexFile(gitDir)?.form ?? 'plain') === 'plain') return [];
  const listed = await git(dir, ['ls-files', '-v', '-z', '--sparse'], signal);
  const isHidden = coneOf(dir) === null ? /^[a-zS] / : ASSUMED;
  const hidden = splitNul(listed.stdout).filter(
    (line) => isHidden.test(line) && isThere(dir, line),
  );
  if (hidden.length === 0) return [];
  const index = join(gitDir, `landfast-index-${randomUUID()}`);
  const env = { GIT_INDEX_FILE: index };
  try {
    copyIndex(join(gitDir, 'index'), index);
    await lookAtAssumed(dir, { env, lines: hidden }, signal);
    const stdin = hidden.map((line) => `${pathOf(line)}\0`).join('');
    await git(dir, ['update-index', '--no-skip-worktree', '-z', '--stdin'], signal, { env, stdin });
    const diff = ['diff', '--name-only', '-z', '--no-renames', '--no-relative', '--no-ext-diff'];
    const { stdout } = await git(dir, diff, signal, { env, limitMs: LONG_LIMIT_MS });
    const paths = new Set(hidden.map(pathOf));
    return splitNul(stdout).filter((path) => paths.has(path));
  } finally {
    await rm(index, { force: true });
  }
}

/** In a line of `git ls-files -v`: a small letter is a file that is taken for unchanged. */
const ASSUMED = /^[a-z] /;

/** Makes git look at the files of an index of its own that it is to take for unchanged. */
export async function lookAtAssumed(
  dir: string,
  of: { readonly env: { readonly GIT_INDEX_FILE: string }; readonly lines: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const assumed = of.lines.filter((line) => ASSUMED.test(line));
  if (assumed.length === 0) return;
  const how = { env: of.env, stdin: assumed.map((line) => `${pathOf(line)}\0`).join('') };
  await git(dir, ['update-index', '--no-assume-unchanged', '-z', '--stdin'], signal, how);
}

/**
 * Lets any git see what was written where nothing is checked out. Ours finds it by the cone; one
 * that does not know of that, a person's, skips what the index says it should. Only for a worktree
 * of our own in which nothing runs any more.
 */
export async function showWritten(dir: string, signal: AbortSignal): Promise<void> {
  if (coneOf(dir) === null) return;
  await removeStaleLocks(dir, signal);
  // Git takes the flag off files that are there as it reads the index; here it writes that down.
  await git(dir, ['update-index', '--force-write-index'], signal, { limitMs: LONG_LIMIT_MS });
}

function pathOf(line: string): string {
  return line.slice(2);
}

function isThere(dir: string, line: string): boolean {
  return lstatSync(join(dir, pathOf(line)), { throwIfNoEntry: false }) !== undefined;
}
