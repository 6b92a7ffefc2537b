/**
 * What is checked out in a working tree, what differs from that, and what git hides or has left
 * unfinished there. Names are exact; a rename is a deletion and an addition. Reading takes no lock
 * and writes nothing.
 *
 * The format is `git status --porcelain=v2`; each line is ended by NUL:
 *
 *   # branch.oid <id> | (initial)
 *   # branch.head <branch> | (detached)
 *   1 <XY> <sub> <mH> <mI> <mW> <hH> <hI> <path>                  changed
 *   u <XY> <sub> <m1> <m2> <m3> <mW> <h1> <h2> <h3> <path>        unmerged
 *   ? <path>                                                      untracked
 *   ! <path>                                                      ignored
 */

import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../base/pause.ts';
import { git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { gitDirOf } from './git-dir.ts';
import { readRef } from './refs.ts';
import { coneOf } from './sparse.ts';
import { withOwnIndex } from './temp-folder.ts';

export interface Status {
  /** Null on a branch without commits. */
  readonly head: Sha | null;
  /** Without `refs/heads/`; null if detached. */
  readonly branch: string | null;
  /** Tracked paths that differ from HEAD, sorted. */
  readonly changed: readonly string[];
  /** Those of them that are staged. */
  readonly staged: readonly string[];
  /** Those in conflict. */
  readonly unmerged: readonly string[];
  /** Files, and nested repositories without a trailing slash. */
  readonly untracked: readonly string[];
  /** Files, and folders with a trailing slash; only on request. */
  readonly ignored: readonly string[];
}

export interface StatusOptions {
  /** `normal` lists a folder of untracked files as one entry. */
  readonly untracked: 'all' | 'normal' | 'no';
  readonly ignored?: boolean;
}

export async function statusOf(
  dir: string,
  how: StatusOptions,
  signal: AbortSignal,
): Promise<Status> {
  const form = ['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z', '--no-renames'];
  const what = [`--untracked-files=${how.untracked}`, ...(how.ignored ? ['--ignored'] : [])];
  const { stdout } = await git(dir, [...form, ...what], signal, { limitMs: LONG_LIMIT_MS });
  return parseStatus(stdout);
}

export function parseStatus(text: string): Status {
  const found = { changed: [], staged: [], unmerged: [], untracked: [], ignored: [] };
  const lists: Record<string, string[]> = found;
  let [head, branch]: [Sha | null, string | null] = [null, null];
  for (const line of splitNul(text)) {
    const [, oid] = /^# branch\.oid ([0-9a-f]+)$/.exec(line) ?? [];
    const [, name] = /^# branch\.head (.*)$/s.exec(line) ?? [];
    if (oid !== undefined) head = oid;
    if (name !== undefined && name !== '(detached)') branch = name;
    if (line.startsWith('#')) continue;
    const path = pathIn(line);
    if (line.startsWith('?')) lists.untracked?.push(path.replace(/\/$/, ''));
    else if (line.startsWith('!')) lists.ignored?.push(path);
    else lists.changed?.push(path);
    if (line.startsWith('u')) lists.unmerged?.push(path);
    if (line.startsWith('1') && line[2] !== '.') lists.staged?.push(path);
  }
  return { head, branch, ...found };
}

/** How many fields come before the path. */
const FIELDS: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1, '!': 1 };

function pathIn(line: string): string {
  let at = 0;
  for (let left = FIELDS[line[0] ?? ''] ?? 0; left > 0; left -= 1) at = line.indexOf(' ', at) + 1;
  return line.slice(at);
}

/** Files that differ from HEAD although git was told not to look at them. */
export async function hiddenChanges(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const hidden = (await flaggedIn(dir, signal)).filter(
    (path) => lstatSync(join(dir, path), { throwIfNoEntry: false }) !== undefined,
  );
  if (hidden.length === 0) return [];
  return withOwnIndex(dir, async (env) => {
    await git(dir, ['read-tree', 'HEAD'], signal, { env, limitMs: LONG_LIMIT_MS });
    await git(dir, ['update-index', '-q', '--refresh'], signal, { env, okCodes: [0, 1] });
    const { stdout } = await git(dir, ['diff-files', '--name-only', '-z'], signal, { env });
    const paths = new Set(hidden);
    return splitNul(stdout).filter((path) => paths.has(path));
  });
}

/** Tracked files flagged as unchanged without a look, or left out of the worktree. */
export async function flaggedIn(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const { stdout } = await git(dir, ['ls-files', '-v', '-z', '--sparse'], signal);
  // `H` is an ordinary file; `S` is left out, as expected where a cone is set.
  const isPlain = coneOf(dir) === null ? /^H / : /^[HS] /;
  const lines = splitNul(stdout).filter((line) => !isPlain.test(line) && !line.startsWith('M '));
  return lines.map((line) => line.slice(2));
}

/**
 * Makes files outside of the cone visible to every git. Landfast's finds them by the cone; the
 * user's skips what the index flags. Only for a worktree of a run in which nothing runs any more.
 */
export async function showWritten(dir: string, signal: AbortSignal): Promise<void> {
  if (coneOf(dir) === null) return;
  // Reading the index clears the flag of files that exist; this writes it back.
  await git(dir, ['update-index', '--force-write-index'], signal, { limitMs: LONG_LIMIT_MS });
}

/** How much of a worktree is nowhere else: commits not in `target`, and files in no commit. */
export async function unmergedIn(
  dir: string,
  target: string | null,
  signal: AbortSignal,
): Promise<{ readonly commits: number; readonly files: number }> {
  const tip = target === null ? null : await readRef(dir, `refs/heads/${target}`, signal);
  const [commits, status, hidden] = await Promise.all([
    git(dir, ['rev-list', '--count', 'HEAD', ...(tip === null ? [] : [`^${tip}`])], signal),
    git(dir, ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all'], signal),
    hiddenChanges(dir, signal),
  ]);
  const files = splitNul(status.stdout).length + hidden.length;
  return { commits: Number(commits.stdout.trim()), files };
}

const REBASE = ['rebase-merge', 'rebase-apply'];
const UNFINISHED = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', ...REBASE];

/** Whether a merge, rebase, cherry-pick or revert is in progress. */
export function isHalfDone(dir: string): boolean {
  return hasAny(dir, UNFINISHED);
}

export function isMerging(dir: string): boolean {
  return hasAny(dir, ['MERGE_HEAD']);
}

/** Whether a rebase is in progress: unlike the others it survives a checkout. */
export function isRebasing(dir: string): boolean {
  return hasAny(dir, REBASE);
}

export function isPicking(dir: string): boolean {
  return hasAny(dir, ['CHERRY_PICK_HEAD']);
}

function hasAny(dir: string, names: readonly string[]): boolean {
  const gitDir = gitDirOf(dir);
  return names.some((name) => existsSync(`${gitDir}/${name}`));
}

/**
 * Waits until the files of a new worktree are older than its index: while both are of the same
 * second, git reads every file again on each status. Only a status that may write records it.
 */
export async function settleIndex(dir: string, signal: AbortSignal): Promise<void> {
  await pause(SECOND_MS + TICK_MS - (Date.now() % SECOND_MS), signal);
  const env = { GIT_OPTIONAL_LOCKS: '1' };
  await git(dir, ['status', '--porcelain', '--untracked-files=no'], signal, { env });
}

const SECOND_MS = 1_000;
/** How far the clock of a file system may lag behind. */
const TICK_MS = 20;
