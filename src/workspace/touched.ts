/**
 * touched: removes from a workspace what anybody has touched since a moment.
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
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytePath } from '../git/byte-path.ts';

export interface Touched {
  /** All that was there, also what is removed: git writes that again. */
  readonly files: number;
  readonly bytes: number;
}

/** What the clock of a file system may be behind ours. */
const TICK_MS = 20;
/** How long others may have to wait. */
const TURN_MS = 10;
const SET_GROUP = 0o2000;
const PERMISSIONS = 0o7777;

/** Removes what was touched at this time (ms since 1970) or later, but what is to stay. */
export async function removeTouched(
  dir: string,
  { since, keep }: { readonly since: number; readonly keep: readonly string[] },
  signal: AbortSignal,
): Promise<Touched> {
  const inherited = statSync(dirname(dir)).mode & SET_GROUP;
  const walk = new Walk({
    dir,
    sinceMs: since - TICK_MS,
    stays: new Set(['.git', ...keep].map(latin1)),
    folderMode: (0o777 & ~process.umask()) | inherited,
    keepsRepositories: false,
    signal,
  });
  await walk.enter('');
  return walk;
}

/** When anything in a workspace was last touched (ms since 1970); nothing is removed. */
export async function youngestIn(dir: string, signal: AbortSignal): Promise<number> {
  const walk = new Walk({
    dir,
    sinceMs: Number.POSITIVE_INFINITY,
    stays: new Set(['.git']),
    folderMode: 0,
    keepsRepositories: true,
    signal,
  });
  await walk.enter('');
  return walk.youngestMs;
}

/** Removes what was touched of one file or folder; says how many files are left. */
export async function removeTouchedBelow(
  below: { readonly dir: string; readonly path: string; readonly since: number },
  signal: AbortSignal,
): Promise<number> {
  const { dir, since } = below;
  const walk = new Walk({
    dir,
    sinceMs: since - TICK_MS / 2,
    stays: new Set(),
    folderMode: 0o777 & ~process.umask(),
    keepsRepositories: true,
    signal,
  });
  await walk.visit(latin1(below.path));
  return walk.left;
}

interface Walking {
  readonly dir: string;
  readonly sinceMs: number;
  readonly stays: ReadonlySet<string>;
  readonly folderMode: number;
  readonly keepsRepositories: boolean;
  readonly signal: AbortSignal;
}

class Walk implements Touched {
  files = 0;
  bytes = 0;
  /** Without what was removed. */
  left = 0;
  youngestMs = 0;
  readonly #of: Walking;
  #turnBegan = performance.now();

  constructor(of: Walking) {
    this.#of = of;
  }

  async enter(folder: string): Promise<void> {
    await this.#takeTurns();
    const { dir, sinceMs, stays, folderMode } = this.#of;
    const place = bytePath(dir, folder);
    const { ctimeMs, mode } = lstatSync(place);
    const isTouched = ctimeMs >= sinceMs;
    this.youngestMs = Math.max(this.youngestMs, ctimeMs);
    if (isTouched && (mode & PERMISSIONS) !== folderMode) chmodSync(place, folderMode);
    for (const name of readdirSync(place, 'latin1')) {
      const below = folder === '' ? name : `${folder}/${name}`;
      if (!stays.has(below)) await this.visit(below);
    }
    if (isTouched && folder !== '') removeWhereEmpty(place);
  }

  /** A file, or a folder with all that is in it. */
  async visit(below: string): Promise<void> {
    const { dir, sinceMs } = this.#of;
    const path = bytePath(dir, below);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return;
    const isRepository = below.endsWith('/.git') && !this.#of.keepsRepositories;
    if (isRepository) return rmSync(path, { recursive: true, force: true });
    if (stat.isDirectory()) return this.enter(below);
    const isTouched = stat.ctimeMs >= sinceMs;
    this.youngestMs = Math.max(this.youngestMs, stat.ctimeMs);
    if (isTouched) unlinkSync(path);
    else this.left += 1;
    this.files += 1;
    this.bytes += stat.size;
  }

  async #takeTurns(): Promise<void> {
    if (performance.now() - this.#turnBegan < TURN_MS) return;
    await nextTurn();
    this.#of.signal.throwIfAborted();
    this.#turnBegan = performance.now();
  }
}

function removeWhereEmpty(folder: string | Buffer): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

function latin1(path: string): string {
  return Buffer.from(path.replace(/\/$/, '')).toString('latin1');
}
