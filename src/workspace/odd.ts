/**
 * odd: what in a workspace is not as in a new checkout, found by looking at every file.
 *
 *   O1. Nothing is opened and no link is followed; names are bytes (kept as latin1).
 *   O2. However many files there are, our event loop is given back every few milliseconds.
 *   O3. A folder that cannot be entered makes the look incomplete; it is never taken for empty.
 */

import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytePath } from '../git/byte-path.ts';

export interface Modes {
  readonly file: number;
  readonly program: number;
  readonly folder: number;
}

export interface Look {
  readonly dir: string;
  /** Paths that are not looked at, nor what is in them. */
  readonly keep: readonly string[];
  readonly modes: Modes;
  /** Says which files belong there, by name. */
  readonly belongs: (name: string) => boolean;
}

export interface Found {
  /**
   * What has another mode than in a new checkout, is of another kind, or has another name, too; and
   * the git folders of repositories inside, which git never touches in a folder that it holds.
   */
  readonly odd: readonly Odd[];
  /** Whether there is a file that does not belong there, or an empty folder. */
  readonly hasMore: boolean;
  readonly isComplete: boolean;
}

export interface Odd {
  readonly path: string | Buffer;
  readonly kind: 'file' | 'folder' | 'repository';
}

const PERMISSIONS = 0o7777;
const SET_GROUP = 0o2000;
const TURN_MS = 10;

/** What git would give new files and folders in a workspace. */
export function modesIn(dir: string): Modes {
  const allowed = ~process.umask();
  const inherited = statSync(dirname(dir)).mode & SET_GROUP;
  return {
    file: 0o666 & allowed,
    program: 0o777 & allowed,
    folder: (0o777 & allowed) | inherited,
  };
}

/** Looks at everything in a workspace. */
export async function lookThrough(look: Look, signal: AbortSignal): Promise<Found> {
  const { dir, modes, belongs } = look;
  const skip = new Set(['.git', ...look.keep].map(latin1));
  const odd: Odd[] = [];
  let [hasMore, isComplete] = [false, true];
  let begun = performance.now();
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (performance.now() - begun > TURN_MS) {
      await nextTurn();
      signal.throwIfAborted();
      begun = performance.now();
    }
    const place = bytePath(dir, folder);
    const names = namesIn(place);
    if (names === null) isComplete = false;
    if (names?.length === 0) hasMore = true;
    if (isOddFolder(place, modes)) odd.push({ path: place, kind: 'folder' });
    for (const name of names ?? []) {
      const below = folder === '' ? name : `${folder}/${name}`;
      if (skip.has(below)) continue;
      const path = bytePath(dir, below);
      if (name === '.git') {
        odd.push({ path, kind: 'repository' });
        continue;
      }
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isDirectory() === true) waiting.push(below);
      else if (stat !== undefined) {
        if (isOdd(stat, modes)) odd.push({ path, kind: 'file' });
        hasMore ||= !belongs(below);
      }
    }
  }
  return { odd, hasMore, isComplete };
}

function isOddFolder(path: string | Buffer, modes: Modes): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.mode & PERMISSIONS) !== modes.folder;
}

function isOdd(stat: Stats, modes: Modes): boolean {
  if (stat.isSymbolicLink()) return false;
  if (!stat.isFile()) return true;
  const mode = stat.mode & PERMISSIONS;
  return (mode !== modes.file && mode !== modes.program) || stat.nlink > 1;
}

function namesIn(path: string | Buffer): readonly string[] | null {
  try {
    return readdirSync(path, 'latin1');
  } catch {
    return null;
  }
}

function latin1(path: string): string {
  return Buffer.from(path.replace(/\/$/, '')).toString('latin1');
}
