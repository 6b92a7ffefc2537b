/**
 * What git does not show of a worktree: changes of tracked files that it takes for unchanged,
 * because the index says so, or because it was not told which folders are checked out.
 *
 *   H1. Looking changes nothing: files are compared through an index of our own.
 */

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { git, LONG_LIMIT_MS, splitNul } from './git.ts';
import { withOwnIndex } from './own-index.ts';
import { coneOf } from './sparse.ts';

/** Files that are there and differ from HEAD, though git was told not to look at them. */
export async function hiddenChanges(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const hidden = (await flaggedIn(dir, signal)).filter((path) => isThere(dir, path));
  if (hidden.length === 0) return [];
  return withOwnIndex(dir, async (env) => {
    await git(dir, ['read-tree', 'HEAD'], signal, { env, limitMs: LONG_LIMIT_MS });
    await git(dir, ['update-index', '-q', '--refresh'], signal, { env, okCodes: [0, 1] });
    const { stdout } = await git(dir, ['diff-files', '--name-only', '-z'], signal, { env });
    const paths = new Set(hidden);
    return splitNul(stdout).filter((path) => paths.has(path));
  });
}

/** Tracked files that git takes for unchanged without a look, or leaves out of the worktree. */
export async function flaggedIn(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const { stdout } = await git(dir, ['ls-files', '-v', '-z', '--sparse'], signal);
  // `H` is any other file; `S` is left out, as it should be where we have set a cone.
  const isPlain = coneOf(dir) === null ? /^H / : /^[HS] /;
  const lines = splitNul(stdout).filter((line) => !isPlain.test(line) && !line.startsWith('M '));
  return lines.map((line) => line.slice(2));
}

/**
 * Lets any git see what was written where nothing is checked out. Ours finds it by the cone; one
 * that does not know of that, a person's, skips what the index says it should. Only for a worktree
 * of our own in which nothing runs any more.
 */
export async function showWritten(dir: string, signal: AbortSignal): Promise<void> {
  if (coneOf(dir) === null) return;
  // Git takes the flag off files that are there as it reads the index; here it writes that down.
  await git(dir, ['update-index', '--force-write-index'], signal, { limitMs: LONG_LIMIT_MS });
}

function isThere(dir: string, path: string): boolean {
  return lstatSync(join(dir, path), { throwIfNoEntry: false }) !== undefined;
}
