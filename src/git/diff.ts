/**
 * Changed files, in a working tree and between commits. Names are exact; a rename is a deletion and
 * an addition. Untracked files count as changes, ignored ones do not. Only the content counts, no
 * timestamp or configured line ending. Reading takes no lock and writes nothing.
 */

import { nameAsText } from './byte-path.ts';
import { git, joinNul, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { changesBetween } from './long-lived.ts';
import { isHalfDone, type Status, statusOf } from './status.ts';

/** Every path in which the working tree differs from a commit, sorted. */
export async function changedFiles(
  dir: string,
  base: Sha,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return changedSince(dir, base, await statusOf(dir, { untracked: 'all' }, signal), signal);
}

/** The same, from a status just taken. */
export async function changedSince(
  dir: string,
  base: Sha,
  status: Status,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // A staged change may have been undone since; only a comparison with the base shows it.
  if (status.head !== base || status.staged.length > 0) return comparedFiles(dir, base, signal);
  return [...new Set([...status.changed, ...status.untracked])].sort();
}

/** Every path in which two commits differ. */
export async function filesBetween(
  dir: string,
  from: Sha,
  to: Sha,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (from === to) return [];
  const told = await changesBetween(dir, from, to);
  if (told !== null) return told.map(nameAsText);
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to];
  return splitNul((await git(dir, args, signal)).stdout);
}

export type Difference = 'added' | 'changed' | 'deleted';

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

/** Files below these paths that are tracked or would be added. */
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

export async function ignoredOf(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const { stdout } = await git(dir, ['check-ignore', '-z', '--stdin'], signal, {
    stdin: joinNul(paths),
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

/** What a checkout holds beyond its commit: nothing at all, only ignored files, or work. */
export async function leftoversIn(
  dir: string,
  signal: AbortSignal,
): Promise<'pristine' | 'clean' | 'work'> {
  const status = await statusOf(dir, { untracked: 'normal', ignored: true }, signal);
  if (status.changed.length + status.untracked.length > 0) return 'work';
  if (isHalfDone(dir)) return 'work';
  return status.ignored.length === 0 ? 'pristine' : 'clean';
}

/** Those of the changed files that contain conflict markers. */
export async function conflictMarkersIn(
  dir: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const search = ['grep', '--untracked', '--no-recurse-submodules', '-I', '-l', '-z', '-E'];
  const options = { okCodes: [0, 1], limitMs: LONG_LIMIT_MS }; // 1: in none.
  const { stdout } = await git(dir, [...search, CONFLICT_MARKER, '--', ':/'], signal, options);
  const marked = new Set(splitNul(stdout));
  return files.filter((file) => marked.has(file));
}

const CONFLICT_MARKER = '^(<<<<<<<|>>>>>>>)([ \r]|$)';
