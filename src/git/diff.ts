/**
 * What has changed, and whether anything has.
 *
 *   D1. Names are read NUL-separated: any name that a file can have is told as it is. A rename is
 *       a deletion and an addition.
 *   D2. Untracked files count as changes, ignored ones do not. Only the content counts: a file
 *       that was touched, or whose line ends differ as configured, has not changed.
 *   D3. Looking takes no lock and writes nothing.
 */

import { existsSync } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { gitDirOf } from './git-dir.ts';
import { headInFiles } from './ref-files.ts';

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
  if ((await headInFiles(dir)) === base) {
    const lines = await statusOf(dir, 'all', signal);
    // What was staged may have been changed back since: only a comparison with the base tells.
    const isPlain = lines.every((line) => line.startsWith(' ') || line.startsWith('??'));
    if (isPlain) return [...new Set(lines.map(pathOf))];
  }
  return comparedFiles(dir, base, signal);
}

/** Every path in which two commits differ. */
export async function filesBetween(
  dir: string,
  from: Sha,
  to: Sha,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to];
  return splitNul((await git(dir, args, signal)).stdout);
}

/** Whether a file of that name, in whatever folder, differs between two commits. */
export async function isNameChanged(
  dir: string,
  from: Sha,
  to: Sha,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (from === to) return false;
  const files = await filesBetween(dir, from, to, signal);
  return files.some((file) => file === name || file.endsWith(`/${name}`));
}

/** How a path differs: it is there only now, differs, or is gone. */
export type Difference = 'added' | 'changed' | 'deleted';

/** Every path in which two commits differ, and how. */
export async function differences(
  dir: string,
  from: Sha,
  to: Sha,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Difference>> {
  const args = ['diff-tree', '-r', '-z', '--name-status', '--no-renames', from, to];
  const fields = splitNul((await git(dir, args, signal)).stdout);
  const found = new Map<string, Difference>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const letter = fields[at];
    const how = letter === 'A' ? 'added' : letter === 'D' ? 'deleted' : 'changed';
    found.set(fields[at + 1]!, how);
  }
  return found;
}

/** Those files below these paths that a commit would take, whether git knows them or not. */
export async function filesBelow(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...paths];
  const env = { GIT_LITERAL_PATHSPECS: '1' };
  const names = splitNul((await git(dir, list, signal, { env })).stdout);
  return [...new Set(names.map((name) => name.replace(/\/$/, '')))];
}

/** Those of the paths that git ignores; where none is `known` to it, it need not look for them. */
export async function ignoredOf(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
  { known = true } = {},
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const args = ['check-ignore', '-z', '--stdin', ...(known ? [] : ['--no-index'])];
  const { stdout } = await git(dir, args, signal, {
    stdin: paths.map((path) => `${path}\0`).join(''),
    okCodes: [0, 1], // 1: none of them.
    limitMs: LONG_LIMIT_MS,
  });
  return new Set(splitNul(stdout));
}

async function comparedFiles(
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

/** The lines of `git status`, sorted by path: two letters, a blank, the path. */
async function statusOf(
  dir: string,
  untracked: 'all' | 'normal',
  signal: AbortSignal,
  ...more: readonly string[]
): Promise<readonly string[]> {
  const args = ['status', '--porcelain', '-z', '--no-renames', `--untracked-files=${untracked}`];
  const lines = splitNul((await git(dir, [...args, ...more], signal)).stdout);
  return [...lines].sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
}

/** An untracked repository is listed as a folder, `name/`. */
function pathOf(line: string): string {
  return line.slice(3).replace(/\/$/, '');
}

/**
 * What a checkout holds beyond its commit. `pristine`: nothing at all, not even ignored files;
 * `clean`: nothing that a commit would take, and nothing half done.
 */
export async function leftoversIn(
  dir: string,
  signal: AbortSignal,
): Promise<'pristine' | 'clean' | 'work'> {
  const lines = await statusOf(dir, 'normal', signal, '--ignored');
  if (lines.some((line) => !line.startsWith('!!'))) return 'work';
  if (await isHalfDone(dir)) return 'work';
  return lines.length === 0 ? 'pristine' : 'clean';
}

/** Whether a merge, rebase, cherry-pick or revert waits to be concluded. */
export async function isHalfDone(dir: string): Promise<boolean> {
  const gitDir = await gitDirOf(dir);
  return IN_PROGRESS.some((name) => existsSync(join(gitDir, name)));
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
