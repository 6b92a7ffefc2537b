/**
 * folder-times: what tells later whether a folder of a working tree has got something new, or is
 * another one.
 *
 *   M1. It is taken while the working tree holds the files of its index and nothing else.
 *   M2. Whoever puts something into a folder, or takes something out of it, changes its ctime,
 *       which no program can set. Times are compared for being the same, by the clock of the one
 *       file system, so that it does not matter whether a clock is right, or is set.
 *   M3. What happens within the same tick of that clock would not be seen: a folder that was
 *       changed just before is never taken for unchanged.
 */

import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { bytePath } from './byte-path.ts';
import type { Sha } from './git.ts';
import { gitFolderOf } from './git-dir.ts';
import { IndexTree, type Noted } from './index-tree.ts';
import { inside, MOST_LOOKS } from './look-around.ts';

export interface FolderTimes {
  /** The tree that the index holds: its folders are told in this order. */
  readonly tree: Sha;
  /** Two numbers for each folder. */
  readonly numbers: Float64Array;
  /** When the last of them was changed, besides the outermost, in milliseconds. */
  readonly last: number;
}

/** Longer than a tick of any file system's clock that counts less than seconds. */
const TICK_MS = 20;

/**
 * Takes them. Null where nobody will need them: every file of a small working tree is looked at,
 * and where there are attributes git stages it.
 */
export function folderTimesIn(dir: string): FolderTimes | null {
  const index = IndexTree.readForNow(`${gitFolderOf(dir)}/index`);
  if (index === null || index.starts.length <= MOST_LOOKS) return null;
  if (index.bytes.includes('.gitattributes', 0, 'latin1')) return null;
  return timesIn(dir, index);
}

/**
 * When a folder in a working tree was last changed, besides the outermost, which changes where the
 * whole is moved. Null where the outermost holds more or less than the index, or nobody can tell.
 */
export function lastChangeIn(dir: string): number | null {
  const index = IndexTree.readForNow(`${gitFolderOf(dir)}/index`);
  const times = index === null ? null : timesIn(dir, index);
  const noted = index?.noted;
  if (times === null || noted == null) return null;
  const below = [...noted.folders.values()].reduce((sum, { files }) => sum + files, 0);
  const names = noted.files - below + noted.folders.size;
  return readdirSync(dir).length === names + 1 ? times.last : null; // With `.git`.
}

function timesIn(dir: string, index: IndexTree): FolderTimes | null {
  const { known: tree, noted } = index;
  if (tree === null || noted === null) return null;
  try {
    const nowMs = lstatSync(dir).ctimeMs; // It was just moved to where it is.
    const numbers: number[] = [];
    let last = 0;
    const enter = (folder: string, { folders }: Noted): void => {
      const { ino, ctimeMs } = lstatSync(bytePath(dir, folder));
      const isYoung = ctimeMs % 1_000 === 0 || ctimeMs > nowMs - TICK_MS;
      numbers.push(isYoung ? Number.NaN : ino, ctimeMs);
      if (folder !== '') last = Math.max(last, ctimeMs);
      for (const [name, below] of folders) enter(inside(folder, name), below);
    };
    enter('', noted);
    return { tree, numbers: new Float64Array(numbers), last };
  } catch {
    return null; // It is not as its index says.
  }
}

/** Whether a folder, by its place in that order, is the same and as it was. */
export function isAsItWas({ numbers }: FolderTimes, nth: number, stat: Stats): boolean {
  return numbers[2 * nth] === stat.ino && numbers[2 * nth + 1] === stat.ctimeMs;
}
