/**
 * touched: what anybody has touched in a workspace since a moment, and how it is taken away.
 *
 * Whoever writes, renames, links or chmods a file changes its ctime, which no program can set. So
 * what is left has the content and mode that git gave it, and git writes the rest again. Files in
 * a folder that was renamed as a whole keep their times, but then no commit holds them there:
 * `git clean` removes those.
 *
 *   T1. No link is followed. Names are bytes, kept as latin1.
 *   T2. A folder that was touched gets the mode that git would give it, and goes if it is empty.
 *   T3. A repository inside goes with all that it holds.
 *   T4. It takes turns with the rest of the program, however many files there are.
 */

import {
  chmodSync,
  lstatSync,
  readdirSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytePath } from '../git/byte-path.ts';

/** What was found in a workspace, or in a part of it. */
export interface Found {
  /** All files, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** When anything was last touched, in ms since 1970. */
  readonly youngestMs: number;
  /** Those that were touched; folders come after all that is in them. */
  readonly touchedFiles: readonly (string | Buffer)[];
  readonly touchedFolders: readonly (string | Buffer)[];
  /** Repositories inside. */
  readonly repositories: readonly (string | Buffer)[];
}

export interface Looking {
  readonly dir: string;
  /** What was touched at this time (ms since 1970) or later counts as touched. */
  readonly since: number;
  /** Paths that are not looked at. */
  readonly keep: readonly string[];
}

/** What the clock of a file system may be behind ours. */
const TICK_MS = 20;
/** How long others may have to wait. */
const TURN_MS = 10;
const SET_GROUP = 0o2000;
const PERMISSIONS = 0o7777;

/** Looks through a workspace; nothing is changed, but for folders that nobody could enter. */
export async function findTouched(looking: Looking, signal: AbortSignal): Promise<Found> {
  const { dir, since, keep } = looking;
  const stays = new Set(['.git', ...keep].map(latin1));
  const walk = new Walk({ dir, sinceMs: since - TICK_MS, stays, findsRepositories: true, signal });
  await walk.enter('', lstatSync(dir));
  return walk;
}

/** Takes away what was found to be touched. */
export function removeFound(dir: string, found: Found): void {
  const mode = folderModeIn(dir);
  // Outer ones first: nothing can be done in a folder that nobody may write to.
  for (const path of found.touchedFolders.toReversed()) {
    if ((lstatSync(path).mode & PERMISSIONS) !== mode) chmodSync(path, mode);
  }
  for (const path of found.repositories) rmSync(path, { recursive: true, force: true });
  for (const path of found.touchedFiles) unlinkSync(path);
  for (const path of found.touchedFolders) {
    if (path !== dir && readdirSync(path).length === 0) rmdirSync(path);
  }
}

/** Removes what was touched of one file or folder of a workspace; says how many files are left. */
export async function removeTouchedBelow(
  below: { readonly dir: string; readonly path: string; readonly since: number },
  signal: AbortSignal,
): Promise<number> {
  const { dir, since } = below;
  const sinceMs = since - TICK_MS / 2;
  const stays: ReadonlySet<string> = new Set();
  const walk = new Walk({ dir, sinceMs, stays, findsRepositories: false, signal });
  const path = latin1(below.path);
  const stat = lstatSync(bytePath(dir, path), { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) await walk.enter(path, stat);
  else if (stat !== undefined) walk.file(path, stat);
  removeFound(dir, walk);
  return walk.files - walk.touchedFiles.length;
}

interface Walking {
  readonly dir: string;
  readonly sinceMs: number;
  readonly stays: ReadonlySet<string>;
  readonly findsRepositories: boolean;
  readonly signal: AbortSignal;
}

const IF_THERE = { throwIfNoEntry: false } as const;

class Walk implements Found {
  files = 0;
  bytes = 0;
  youngestMs = 0;
  readonly touchedFiles: (string | Buffer)[] = [];
  readonly touchedFolders: (string | Buffer)[] = [];
  readonly repositories: (string | Buffer)[] = [];
  readonly #of: Walking;
  #turnBegan = performance.now();

  constructor(of: Walking) {
    this.#of = of;
  }

  async enter(folder: string, { ctimeMs }: Stats): Promise<void> {
    await this.#takeTurns();
    const { dir, sinceMs, stays, findsRepositories } = this.#of;
    const place = bytePath(dir, folder);
    const begin = folder === '' ? '' : `${folder}/`;
    if (ctimeMs > this.youngestMs) this.youngestMs = ctimeMs;
    for (const name of namesIn(place)) {
      const path = begin + name;
      if (stays.has(path)) continue;
      const stat = lstatSync(bytePath(dir, path), IF_THERE);
      if (stat === undefined) continue;
      if (name === '.git' && findsRepositories) this.repositories.push(bytePath(dir, path));
      else if (stat.isDirectory()) await this.enter(path, stat);
      else this.file(path, stat);
    }
    if (ctimeMs >= sinceMs) this.touchedFolders.push(place);
  }

  file(path: string, { ctimeMs, size }: Stats): void {
    const { dir, sinceMs } = this.#of;
    this.files += 1;
    this.bytes += size;
    if (ctimeMs > this.youngestMs) this.youngestMs = ctimeMs;
    if (ctimeMs >= sinceMs) this.touchedFiles.push(bytePath(dir, path));
  }

  async #takeTurns(): Promise<void> {
    if (performance.now() - this.#turnBegan < TURN_MS) return;
    await nextTurn();
    this.#of.signal.throwIfAborted();
    this.#turnBegan = performance.now();
  }
}

/** A folder that its task has closed to itself is opened. */
function namesIn(folder: string | Buffer): readonly string[] {
  try {
    return readdirSync(folder, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    chmodSync(folder, 0o700);
    return readdirSync(folder, 'latin1');
  }
}

/** The mode that git gives to a folder there. */
function folderModeIn(dir: string): number {
  return (0o777 & ~process.umask()) | (statSync(dirname(dir)).mode & SET_GROUP);
}

function latin1(path: string): string {
  return Buffer.from(path.replace(/\/$/, '')).toString('latin1');
}
