/**
 * touched-files: finds and removes what was touched in a workspace since a point in time.
 *
 * Writing, renaming, linking or chmodding a file changes its ctime, which no program can set. The
 * untouched rest has the content and mode that git gave it, and git rewrites what was removed.
 * Files in a folder that was renamed as a whole keep their times, but no commit holds them there:
 * `git clean` removes those. A touched folder gets the mode that git would give it, and is removed
 * if it is empty; a nested repository is removed with everything in it. No link is followed. Names
 * are bytes, kept as latin1.
 */

import {
  chmodSync,
  lstatSync,
  lutimesSync,
  readdirSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSystemError } from '../base/errors.ts';
import { pause } from '../base/pause.ts';
import { isSetBack, type Moment } from '../base/steady-clock.ts';
import { bytePath } from '../git/byte-path.ts';
import type { Sha } from '../model/plan.ts';

export interface TouchedFiles {
  /** Of all files, touched or not. */
  readonly files: number;
  readonly bytes: number;
  /** When anything was last touched, in ms since 1970. */
  readonly youngestMs: number;
  /** Folders come after their contents. */
  readonly touchedFiles: readonly (string | Buffer)[];
  readonly touchedFolders: readonly (string | Buffer)[];
  readonly repositories: readonly (string | Buffer)[];
}

/** How far a file system's clock may lag, with a margin: more counts as touched. */
export const SLACK_MS = 20;
/** Longest stretch without yielding. */
const TURN_MS = 10;
const SET_GROUP = 0o2000;
const PERMISSIONS = 0o7777;

/** Walks a workspace. Changes only the mode of folders that cannot be read. */
export async function findTouched(
  what: { readonly dir: string; readonly since: number; readonly keep: readonly string[] },
  signal: AbortSignal,
): Promise<TouchedFiles> {
  const { dir, since, keep } = what;
  const stays = new Set(['.git', ...keep].map(latin1));
  const walk = new Walk({ dir, sinceMs: since - SLACK_MS, stays, findsRepositories: true, signal });
  await walk.enter('', lstatSync(dir));
  return walk;
}

/** Whether nothing was touched: a file that comes or goes touches its folder. */
export function isUntouched({ touchedFiles, touchedFolders, repositories }: TouchedFiles): boolean {
  return touchedFiles.length + touchedFolders.length + repositories.length === 0;
}

export async function removeFound(dir: string, found: TouchedFiles): Promise<void> {
  const mode = folderModeIn(dir);
  // Outer folders first: a read-only folder protects its contents.
  for (const path of found.touchedFolders.toReversed()) {
    if ((lstatSync(path).mode & PERMISSIONS) !== mode) chmodSync(path, mode);
  }
  for (const path of found.repositories) {
    await rm(path, { recursive: true, force: true });
  }
  for (const path of found.touchedFiles) unlinkSync(path);
  for (const path of found.touchedFolders) {
    if (path !== dir && readdirSync(path).length === 0) rmdirSync(path);
  }
}

/** Removes the touched files of these paths; returns how many files are left. */
export async function removeTouched(
  dir: string,
  { paths, since }: { readonly paths: readonly string[]; readonly since: number },
  signal: AbortSignal,
): Promise<number> {
  const sinceMs = since - SLACK_MS / 2;
  let left = 0;
  for (const path of paths.map(latin1)) {
    const walk = new Walk({ dir, sinceMs, stays: new Set(), findsRepositories: false, signal });
    const stat = lstatSync(bytePath(dir, path), { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) await walk.enter(path, stat);
    else if (stat !== undefined) walk.file(path, stat);
    await removeFound(dir, walk);
    left += walk.files - walk.touchedFiles.length;
  }
  return left;
}

interface Walking {
  readonly dir: string;
  readonly sinceMs: number;
  readonly stays: ReadonlySet<string>;
  readonly findsRepositories: boolean;
  readonly signal: AbortSignal;
}

class Walk implements TouchedFiles {
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
      const stat = lstatSync(bytePath(dir, path), { throwIfNoEntry: false });
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

/** Opens a folder that its task has made unreadable. */
function namesIn(folder: string | Buffer): readonly string[] {
  try {
    return readdirSync(folder, 'latin1');
  } catch (error) {
    if (!isSystemError(error, 'EACCES')) throw error;
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

/** A commit that held all of a workspace, as it was when git began to stage it. */
export interface Committed {
  readonly commit: Sha;
  readonly at: Moment;
}

/** Yes is certain; where the moment is too close to tell, or the clock was set back, it is no. */
export function isAsCommitted({ at }: Committed, { youngestMs }: TouchedFiles): boolean {
  return !isSetBack(at) && youngestMs < at.at;
}

/**
 * A time by the clock of a workspace's file system: what was touched before this call is older, what
 * is touched after it is not. The clock moves in steps of up to 10 ms. Where a step takes longer, the
 * time is within it, so that what was touched last does not count as older.
 */
export async function nextFileTime(dir: string, signal: AbortSignal): Promise<number> {
  const began = fileTime(dir);
  const deadline = performance.now() + STEP_MS;
  let time = began;
  while (time === began && performance.now() < deadline) {
    await pause(1, signal);
    time = fileTime(dir);
  }
  return time;
}

const STEP_MS = 15;

/** Setting the times of the link to the repository changes its ctime, and nothing that git reads. */
function fileTime(dir: string): number {
  const link = `${dir}/.git`;
  const { atime, mtime } = lstatSync(link);
  lutimesSync(link, atime, mtime);
  return lstatSync(link).ctimeMs;
}
