/**
 * look-at-folders: what differs between a large working tree and its index, where git names the
 * files that are not as they were. New files are looked for only in folders that can have got some.
 *
 *   N1. A folder that is the same, and as it was when the working tree held nothing else, has got
 *       nothing new (folder-times.ts). All others are read.
 *   N2. Git follows no link that has taken the place of a folder, and neither do we. Where it has
 *       not named every file of such a folder, it is asked.
 *   N3. Where there is something that is not plain, it says null: ask git.
 */

import { lstatSync, type Stats } from 'node:fs';
import { bytePath } from './byte-path.ts';
import { type FolderTimes, isAsItWas } from './folder-times.ts';
import { git, LONG_LIMIT_MS, splitNul } from './git.ts';
import { foldersOf } from './index-edit.ts';
import { countOf, type IndexTree, type Noted } from './index-tree.ts';
import {
  entriesIn,
  type Found,
  holdsFilesOnly,
  inside,
  isOdd,
  isRule,
  MOST_LOOKS,
} from './look-around.ts';

/** Other tasks need the other processors: threads take a fifth more of them in all. */
export const ONE_THREAD = { 'core.preloadIndex': 'false' };

/** The files of the index that git finds to be touched, changed or gone; null where many are. */
export async function touchedFiles(
  dir: string,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const options = { config: ONE_THREAD, limitMs: LONG_LIMIT_MS };
  const { stdout } = await git(dir, ['diff-files', '--name-only', '-z'], signal, options);
  const names = splitNul(stdout);
  if (names.length > MOST_LOOKS || stdout.includes('\ufffd')) return null; // That is no text.
  return names.map((name) => Buffer.from(name).toString('latin1'));
}

export interface Remembered {
  readonly dir: string;
  readonly index: IndexTree;
  readonly times: FolderTimes;
}

/** What differs, by the files that git has named and the folders as they were. */
export function lookAtFolders(what: Remembered, touched: readonly string[]): Found | null {
  const { dir, index, times } = what;
  if (index.noted === null || index.known !== times.tree || !holdsFilesOnly(index)) return null;
  const look = new Look(what, countIn(touched));
  if (!look.enter('', index.noted)) return null;
  const isGone = (name: string): boolean =>
    foldersOf(name).some((folder) => look.lost.has(folder)) ||
    (statOf(dir, name)?.isDirectory() ?? true);
  const gone = new Set(touched.filter(isGone));
  const changed = touched.filter((name) => !gone.has(name));
  const hasRules = index.bytes.includes('.gitignore', 0, 'latin1') || look.new.some(isRule);
  return { changed, gone: [...gone], new: look.new, folders: look.folders, hasRules };
}

/** How many of the files each folder holds, at whatever depth. */
function countIn(files: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const folder of files.flatMap(foldersOf)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  return counts;
}

class Look {
  readonly new: string[] = [];
  readonly folders: string[] = [];
  /** Folders of the index that are none any more. */
  readonly lost = new Set<string>();
  readonly #what: Remembered;
  /** How many files git has named, by folder. */
  readonly #named: ReadonlyMap<string, number>;
  #looks = 0;
  #entered = 0;

  constructor(what: Remembered, named: ReadonlyMap<string, number>) {
    this.#what = what;
    this.#named = named;
  }

  /** Looks at a folder of the index and at those in it; false where there is something odd. */
  enter(folder: string, noted: Noted): boolean {
    const nth = this.#entered;
    this.#entered += 1;
    const stat = statOf(this.#what.dir, folder);
    if (stat?.isDirectory() !== true) {
      this.#lose(folder, noted);
      return this.#named.get(folder) === noted.files && folder !== '';
    }
    if (!isAsItWas(this.#what.times, nth, stat) && !this.#read(folder, noted)) return false;
    for (const [name, below] of noted.folders) {
      if (!this.enter(inside(folder, name), below)) return false;
    }
    return true;
  }

  #lose(folder: string, noted: Noted): void {
    this.lost.add(folder);
    this.#entered += countOf(noted) - 1;
  }

  /** Finds what is new in a folder. */
  #read(folder: string, noted: Noted): boolean {
    const entries = entriesIn(this.#what.dir, folder);
    if (entries === null) return false;
    for (const entry of entries) {
      if (folder === '' && entry.name === '.git') continue;
      this.#looks += 1;
      if (this.#looks > MOST_NAMES) return false;
      if (entry.isDirectory() && noted.folders.has(entry.name)) continue; // It is entered itself.
      const name = inside(folder, entry.name);
      const isFile = entry.isFile() || entry.isSymbolicLink();
      if (isFile && this.#what.index.startOf(name) !== null) continue;
      if (isOdd(entry.name) || !(isFile || entry.isDirectory())) return false;
      (isFile ? this.new : this.folders).push(name);
    }
    return this.new.length <= MOST_LOOKS;
  }
}

/** In folders that are read. */
const MOST_NAMES = 20_000;

/** Undefined also where something on the way to it is no folder. */
function statOf(dir: string, name: string): Stats | undefined {
  try {
    return lstatSync(bytePath(dir, name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
