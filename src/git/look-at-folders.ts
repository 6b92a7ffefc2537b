/**
 * look-at-folders: what differs between a large working tree and its index, where git names the
 * files that are not as they were. New files are looked for only in folders that can have got some.
 *
 *   N1. At a known moment the working tree held the files of its index and nothing else. Whoever
 *       puts something into a folder, or takes something out of it, changes the folder's ctime,
 *       which no program can set: one that is older than that moment has got nothing new.
 *   N2. Unless it is another folder by now, which was moved there with all that is in it. The files
 *       in that are others, too, and git names all of them; so every folder in which git names a
 *       file, at whatever depth, is read.
 *   N3. Git follows no link that has taken the place of a folder, and neither do we.
 *   N4. Where there is something that is not plain, it says null: ask git.
 */

import { lstatSync, type Stats } from 'node:fs';
import { bytePath } from './byte-path.ts';
import { git, LONG_LIMIT_MS, splitNul } from './git.ts';
import { foldersOf } from './index-edit.ts';
import type { IndexTree, Noted } from './index-tree.ts';
import {
  entriesIn,
  type Found,
  holdsFilesOnly,
  inside,
  isOdd,
  isRule,
  MOST_LOOKS,
} from './look-around.ts';

/** A file system's clock may be behind ours by a tick. */
export const TICK_MS = 20;

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

export interface Since {
  readonly dir: string;
  readonly index: IndexTree;
  /** When the working tree was known to hold nothing else. */
  readonly since: number;
}

/** What differs, by the files that git has named since. */
export function lookAtFolders(what: Since, touched: readonly string[]): Found | null {
  const { dir, index } = what;
  if (Date.now() < what.since || index.noted === null || !holdsFilesOnly(index)) return null;
  const speaksToGit = index.bytes.includes('.git', 0, 'latin1'); // Most often once for both.
  if (speaksToGit && index.bytes.includes('.gitattributes', 0, 'latin1')) return null;
  const look = new Look(what, new Set(touched.flatMap(foldersOf)));
  if (!look.enter('', index.noted)) return null;
  const isGone = (name: string): boolean =>
    foldersOf(name).some((folder) => look.lost.has(folder)) ||
    (statOf(dir, name)?.isDirectory() ?? true);
  const gone = touched.filter(isGone);
  const changed = touched.filter((name) => !gone.includes(name));
  const isRuled = speaksToGit && index.bytes.includes('.gitignore', 0, 'latin1');
  const hasRules = isRuled || look.new.some(isRule);
  return { changed, gone, new: look.new, folders: look.folders, hasRules };
}

class Look {
  readonly new: string[] = [];
  readonly folders: string[] = [];
  /** Folders of the index that are none any more. */
  readonly lost = new Set<string>();
  readonly #what: Since;
  readonly #suspects: ReadonlySet<string>;
  #looks = 0;

  constructor(what: Since, suspects: ReadonlySet<string>) {
    this.#what = what;
    this.#suspects = suspects;
  }

  /** Looks at a folder of the index and at those in it; false where there is something odd. */
  enter(folder: string, noted: Noted): boolean {
    const stat = statOf(this.#what.dir, folder);
    const isSuspect = this.#suspects.has(folder);
    if (stat?.isDirectory() !== true) {
      this.lost.add(folder);
      return isSuspect;
    }
    const isRead = isSuspect || !isOlder(stat, this.#what.since);
    if (isRead && !this.#read(folder, noted)) return false;
    for (const [name, below] of noted.folders) {
      if (!this.enter(inside(folder, name), below)) return false;
    }
    return true;
  }

  /** Finds what is new in a folder. */
  #read(folder: string, noted: Noted): boolean {
    const entries = entriesIn(this.#what.dir, folder);
    if (entries === null) return false;
    for (const entry of entries) {
      if (folder === '' && entry.name === '.git') continue;
      this.#looks += 1;
      if (this.#looks > MOST_NAMES || isOdd(entry.name)) return false;
      const name = inside(folder, entry.name);
      if (entry.isDirectory()) {
        if (!noted.folders.has(entry.name)) this.folders.push(name);
      } else if (!entry.isFile() && !entry.isSymbolicLink()) return false;
      else if (this.#what.index.startOf(name) === null) this.new.push(name);
    }
    return this.new.length <= MOST_LOOKS;
  }
}

/** In folders that are read. */
const MOST_NAMES = 20_000;

/** Whether the last change to a folder was before that time, for sure. */
export function isOlder({ ctimeMs }: Stats, sinceMs: number): boolean {
  const last = ctimeMs % 1_000 > 0 ? ctimeMs : ctimeMs + 999; // Some file systems count seconds.
  return last < sinceMs - TICK_MS;
}

/** Undefined also where something on the way to it is no folder. */
function statOf(dir: string, name: string): Stats | undefined {
  try {
    return lstatSync(bytePath(dir, name));
  } catch {
    return undefined;
  }
}
