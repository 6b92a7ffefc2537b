/**
 * status: what is checked out in a working tree, and what differs from that, in one look.
 *
 *   S1. Names are told as they are, whatever a file is called; a rename is a deletion and an
 *       addition.
 *   S2. Looking takes no lock and writes nothing.
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

import { git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';

export interface Status {
  /** Null where nothing is committed on what is checked out. */
  readonly head: Sha | null;
  /** Without `refs/heads/`; null if detached. */
  readonly branch: string | null;
  /** Tracked paths that differ from HEAD, sorted. */
  readonly changed: readonly string[];
  /** Those of them that differ in the index already. */
  readonly staged: readonly string[];
  /** Those that a merge left in conflict. */
  readonly unmerged: readonly string[];
  /** Files, and repositories inside as folders without a slash at the end. */
  readonly untracked: readonly string[];
  /** Files, and folders with a slash at the end; asked for. */
  readonly ignored: readonly string[];
}

export interface Looking {
  /** `normal` tells a folder with nothing but untracked files as one. */
  readonly untracked: 'all' | 'normal' | 'no';
  readonly ignored?: boolean;
}

/** Looks at a working tree. */
export async function statusOf(dir: string, how: Looking, signal: AbortSignal): Promise<Status> {
  const form = ['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z', '--no-renames'];
  const what = [`--untracked-files=${how.untracked}`, ...(how.ignored ? ['--ignored'] : [])];
  const { stdout } = await git(dir, [...form, ...what], signal, { limitMs: LONG_LIMIT_MS });
  return parseStatus(stdout);
}

/** Reads the answer of git. */
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
