/**
 * What has changed, and whether anything has.
 *
 *   D1. Names are read NUL-separated: any name that a file can have is told as it is. A rename is
 *       a deletion and an addition.
 *   D2. Untracked files count as changes, ignored ones do not. Only the content counts: a file
 *       that was touched, or whose line ends differ as configured, has not changed.
 *   D3. Looking takes no lock and writes nothing.
 */

import { access, lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, type Sha, splitNul } from './git.ts';
import { gitDirOf } from './git-dir.ts';

/** A merge, rebase, cherry-pick or revert that waits to be concluded leaves one of these. */
const IN_PROGRESS = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge',
  'rebase-apply',
];

const CONFLICT_MARKER = /^(?:<{7}|>{7})(?: |\r?$)/m;
const BINARY_PROBE_BYTES = 8_000;

/** Every path in which the working tree differs from a commit, sorted. */
export async function changedFiles(
  dir: string,
  base: Sha,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const diff = ['diff', '--name-only', '-z', '--no-renames', '--no-relative', '--no-ext-diff'];
  const [tracked, untracked] = await Promise.all([
    git(dir, [...diff, base, '--'], signal),
    git(dir, ['ls-files', '--others', '--exclude-standard', '-z'], signal),
  ]);
  const names = [...splitNul(tracked.stdout), ...splitNul(untracked.stdout)];
  // An untracked repository is listed as a folder, `name/`.
  return [...new Set(names.map((name) => name.replace(/\/$/, '')))].sort();
}

/** Every path in which two commits differ, sorted. */
export async function diffNames(
  dir: string,
  from: Sha,
  to: Sha,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to];
  return [...splitNul((await git(dir, args, signal)).stdout)].sort();
}

/** Whether a checkout holds nothing that a commit does not, and nothing half done. */
export async function isClean(dir: string, signal: AbortSignal): Promise<boolean> {
  const [status, gitDir] = await Promise.all([
    git(dir, ['status', '--porcelain', '-z', '--untracked-files=normal'], signal),
    gitDirOf(dir),
  ]);
  if (status.stdout !== '') return false;
  const found = await Promise.all(IN_PROGRESS.map((name) => exists(join(gitDir, name))));
  return !found.includes(true);
}

/** Those of the files in which lines of an unresolved conflict are left. */
export async function conflictMarkersIn(
  dir: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    if (await hasConflictMarkers(join(dir, file))) found.push(file);
  }
  return found;
}

async function hasConflictMarkers(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => null);
  if (stat === null || !stat.isFile()) return false; // Deleted, a link, or a submodule.
  const bytes = await readFile(path);
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return false;
  return CONFLICT_MARKER.test(bytes.toString('latin1'));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
