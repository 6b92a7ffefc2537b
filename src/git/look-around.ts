/**
 * look-around: what differs between a small working tree and its index, found by comparing every
 * file.
 *
 *   L1. A file is taken for unchanged only if nothing that the index notes of it differs, its times
 *       to less than a microsecond; and if it was changed in the same tick of the clock as the
 *       index was written, its content is compared.
 *   L2. Where there is something that is not plain, it says null: ask git.
 */

import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { bytePath } from './byte-path.ts';
import { isAsNoted, isEntry, nameAt } from './index-edit.ts';
import { MODE_AT } from './index-file.ts';
import type { IndexTree, Noted } from './index-tree.ts';
import { blobOf } from './loose-object.ts';
import { isRefused } from './tree-changes.ts';

/** Names of files, in bytes as latin1. */
export interface Found {
  /** Those of the index that are not as it says, though perhaps only in their times. */
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  /** Those that the index does not know; git may be told to ignore them. */
  readonly new: readonly string[];
  /** Folders of which the index knows nothing, with whatever is in them. */
  readonly folders: readonly string[];
  /** Whether a file in the working tree says what git ignores. */
  readonly hasRules: boolean;
}

export interface Surroundings {
  readonly dir: string;
  readonly index: IndexTree;
  /** When the index was written. */
  readonly writtenMs: number;
}

/** Git looks at more of them than that in less time. */
export const MOST_LOOKS = 300;
const MOST_BYTES = 1024 * 1024;
const ATTRIBUTES = '.gitattributes';
const HAS_ATTRIBUTES = /(?:^|\/)\.gitattributes(?:\/|$)/;
const FILE = '100644';
const PROGRAM = '100755';
export const LINK = '120000';
const KINDS: ReadonlySet<number> = new Set(
  [FILE, PROGRAM, LINK].map((mode) => Number.parseInt(mode, 8)),
);
const OWNER_RUNS = 0o100n;

/** Compares every file with the index; null where there is something that is not plain. */
export function lookAround({ dir, index, writtenMs }: Surroundings): Found | null {
  if (index.starts.length > MOST_LOOKS || index.noted === null) return null;
  if (!holdsFilesOnly(index)) return null;
  const missing = new Map([...index.starts].map((start) => [nameAt(index.bytes, start), start]));
  // Where such a file is gone git still finds its rules in the index, for some of the files.
  if ([...missing.keys()].some((name) => HAS_ATTRIBUTES.test(name))) return null;
  const [changed, fresh, folders]: [string[], string[], string[]] = [[], [], []];
  let [hasRules, looks] = [false, 0];
  const waiting: [string, Noted][] = [['', index.noted]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [folder, noted] = next;
    const names = namesIn(dir, folder);
    if (names === null) return null;
    for (const each of names) {
      if (folder === '' && each === '.git') continue;
      const name = inside(folder, each);
      const isKnown = missing.has(name) || noted.folders.has(each);
      looks += 1;
      if (looks > 2 * MOST_LOOKS || (!isKnown && isOdd(each))) return null;
      if (each === '.gitignore') hasRules = true;
      const stat = lstatSync(bytePath(dir, name), { throwIfNoEntry: false });
      if (stat === undefined) return null; // Somebody is still at work here.
      if (stat.isDirectory()) {
        const below = noted.folders.get(each);
        if (below === undefined && isOdd(each)) return null;
        if (below === undefined) folders.push(name);
        else waiting.push([name, below]);
        continue;
      }
      if (!stat.isFile() && !stat.isSymbolicLink()) return null;
      const start = missing.get(name);
      missing.delete(name);
      if (start === undefined) fresh.push(name);
      else if (!isAsNoted(index.bytes, start, stat)) changed.push(name);
      else if (stat.mtimeMs >= writtenMs && !isNotedContent(index, start, { dir, name })) {
        changed.push(name);
      }
    }
  }
  return { changed, gone: [...missing.keys()], new: fresh, folders, hasRules };
}

/** Every file in these folders; null where there are many, or something is not plain. */
export function filesBelow(dir: string, folders: readonly string[]): readonly string[] | null {
  const files: string[] = [];
  const waiting = [...folders];
  let looks = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = entriesIn(dir, folder);
    if (entries === null) return null;
    for (const entry of entries) {
      looks += 1;
      if (looks > 2 * MOST_LOOKS || isOdd(entry.name)) return null;
      const name = inside(folder, entry.name);
      if (entry.isDirectory()) waiting.push(name);
      else if (entry.isFile() || entry.isSymbolicLink()) files.push(name);
      else return null;
    }
  }
  return files;
}

/** To git a submodule that is not checked out is an empty folder. */
export function holdsFilesOnly({ bytes, starts }: IndexTree): boolean {
  return starts.every((start) => KINDS.has(bytes.readUInt32BE(start + MODE_AT)));
}

/** Names that mean something to git, or that it may refuse, where they are new. */
export function isOdd(name: string): boolean {
  return isRefused(name) || name === ATTRIBUTES;
}

/** Whether a file says what git ignores. */
export function isRule(name: string): boolean {
  return name === '.gitignore' || name.endsWith('/.gitignore');
}

function namesIn(dir: string, folder: string): readonly string[] | null {
  try {
    return readdirSync(bytePath(dir, folder), 'latin1');
  } catch {
    return null;
  }
}

/** What a folder holds; null where it cannot be read. */
export function entriesIn(dir: string, folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(bytePath(dir, folder), { withFileTypes: true, encoding: 'latin1' });
  } catch {
    return null;
  }
}

/** The path of what is in a folder; '' is the outermost. */
export function inside(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

export interface FileAt {
  readonly dir: string;
  readonly name: string;
}

/** Whether a file holds what the index says, however its times are. */
function isNotedContent({ bytes }: IndexTree, start: number, file: FileAt): boolean {
  const found = readNow(file);
  return found !== null && isEntry(bytes, start, { mode: found.mode, sha: blobOf(found.content) });
}

/** A file or link as it is now; null where it cannot be read as a whole, or is large. */
export function readNow({ dir, name }: FileAt) {
  const path = bytePath(dir, name);
  try {
    const stat = lstatSync(path, { bigint: true });
    const isLink = stat.isSymbolicLink();
    if (stat.size > MOST_BYTES || !(isLink || stat.isFile())) return null;
    const content = isLink ? readlinkSync(path, 'buffer') : readFileSync(path);
    if (BigInt(content.length) !== stat.size) return null; // Somebody is still writing.
    const mode = isLink ? LINK : (stat.mode & OWNER_RUNS) === 0n ? FILE : PROGRAM;
    return { mode, stat, content };
  } catch {
    return null;
  }
}
