/**
 * glance: whether a workspace that was wiped once still holds nothing but what git put there, told
 * without a look at every file.
 *
 * Whoever touches a file or a folder changes its ctime, which no program can set. So that of the
 * folders is looked at, and of the files only those are that git has found to be younger.
 *
 *   G1. Yes is said only where a look at everything (odd.ts) would find nothing odd and nothing
 *       more. No may also mean that such a look costs less.
 *   G2. Every file must have been compared with the index since the last process has ended: the new
 *       ctime of each that was touched is noted then. Git compares whole seconds, so that all files
 *       of the second in which the workspace was wiped are looked at, too, unless it was done more
 *       exactly (git/look-around.ts).
 *   G3. A folder whose last file a task has removed may still be there, with something in it that
 *       git does not see; its parent then has more folders than those of the index.
 *   G4. A clock that was set back in between could hide something. Where one can tell, it is no.
 */

import { lstatSync, readdirSync } from 'node:fs';
import { bytePath } from '../git/byte-path.ts';
import { NAME_AT, nameAt, nameEndAt } from '../git/index-edit.ts';
import { CTIME_AT, indexEntries, readForNow } from '../git/index-file.ts';
import { isUsualFile, isUsualFolder, type Modes } from './odd.ts';

export interface Wiped {
  readonly dir: string;
  readonly gitDir: string;
  /** When it was known to hold nothing else. */
  readonly since: number;
  /** Files were compared to the microsecond. */
  readonly isExact: boolean;
  readonly modes: Modes;
}

const SHA_BYTES = 20;
const SLASH = 0x2f;
/** A file system's clock may be behind ours by a tick. */
const TICK_MS = 20;
/** More of them are faster looked at by `find`, with all others. */
const MOST_FILES = 500;
const MOST_FOLDERS = 5_000;

/** Says whether it does; its tracked files are as the commit has them, and nothing runs in it. */
export function isAsWiped({ dir, gitDir, since, isExact, modes }: Wiped): boolean {
  if (Date.now() < since) return false;
  const index = readForNow(`${gitDir}/index`);
  const entries = index === null ? null : indexEntries(index, SHA_BYTES);
  if (index === null || entries === null || entries.form !== 'plain') return false;
  const { starts } = entries;
  const sinceMs = since - TICK_MS;
  const young = starts.filter((start) => youngestAt(index, start, isExact) >= sinceMs);
  const folders = foldersIn(index, starts);
  if (young.length > MOST_FILES || folders.size > MOST_FOLDERS) return false;
  return (
    young.every((start) => isUntouched(bytePath(dir, nameAt(index, start)), modes)) &&
    [...folders].every(([folder, count]) => holdsOnly({ dir, folder, count, sinceMs }, modes))
  );
}

/** The last moment at which a file may have got the ctime that is noted, in ms. */
export function youngestAt(index: Buffer, start: number, isExact: boolean): number {
  const second = index.readUInt32BE(start + CTIME_AT) * 1_000;
  const rest = index.readUInt32BE(start + CTIME_AT + 4); // 0 where the file system counts seconds.
  return isExact && rest > 0 ? second + rest / 1_000_000 : second + 999;
}

/** How many names and, among these, folders a folder holds. */
interface Count {
  names: number;
  folders: number;
}

/** Every folder that holds something; '' is the workspace. */
function foldersIn(index: Buffer, starts: Uint32Array): ReadonlyMap<string, Count> {
  const folders = new Map<string, Count>([['', { names: 1, folders: 0 }]]); // With `.git`.
  const countIn = (folder: string): Count => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const above = countIn(folder.slice(0, Math.max(0, folder.lastIndexOf('/'))));
    above.names += 1;
    above.folders += 1;
    const count = { names: 0, folders: 0 };
    folders.set(folder, count);
    return count;
  };
  let [lastBegin, lastLength, files] = [0, 0, 0];
  const addLast = (): void => {
    countIn(index.toString('latin1', lastBegin, lastBegin + lastLength)).names += files;
  };
  for (const start of starts) {
    const begin = start + NAME_AT;
    let slash = nameEndAt(index, start) - 1;
    while (slash > begin && index[slash] !== SLASH) slash -= 1;
    const length = slash - begin;
    if (length !== lastLength || !isSameText(index, begin, lastBegin, length)) {
      addLast();
      files = 0;
      [lastBegin, lastLength] = [begin, length];
    }
    files += 1;
  }
  addLast();
  return folders;
}

function isSameText(bytes: Buffer, one: number, other: number, length: number): boolean {
  for (let nth = length - 1; nth >= 0; nth -= 1) {
    if (bytes[one + nth] !== bytes[other + nth]) return false;
  }
  return true;
}

/** Whether a file is such as git makes them: a link, or a usual one. */
function isUntouched(path: string | Buffer, modes: Modes): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  return stat.isSymbolicLink() || (stat.isFile() && isUsualFile(stat, modes));
}

interface Folder {
  readonly dir: string;
  readonly folder: string;
  /** What is in it, all of which is there. */
  readonly count: Count;
  readonly sinceMs: number;
}

/** Whether a folder is as git made it and holds nothing else. */
function holdsOnly({ dir, folder, count, sinceMs }: Folder, modes: Modes): boolean {
  const path = bytePath(dir, folder);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true || !isUsualFolder(stat.mode, modes)) return false;
  const isOld = stat.ctimeMs % 1_000 > 0 ? stat.ctimeMs < sinceMs : stat.ctimeMs + 999 < sinceMs;
  // A name for each folder in it, its own and its parent's; some file systems do not count them.
  const isCounted = stat.nlink > 1;
  if (isCounted && stat.nlink !== count.folders + 2) return false;
  return (isOld && isCounted) || readdirSync(path).length === count.names;
}
