/**
 * What a commit of an index would hold, read from the index file: no process is needed.
 *
 *   X1. Only an index whose every entry is an ordinary file of its own is read (index-file.ts, I1),
 *       with names of objects of the usual length. Anything else is null: ask git.
 *   X2. The tree is that of `git write-tree`, bit for bit. Folders whose tree git has noted in the
 *       index are taken from there, so that the cost is that of the folders that changed.
 *
 *     header ─ entry … entry ─ extension `TREE`: the folders whose trees are known ─ …
 */

import { readFileSync } from 'node:fs';
import { assert } from '../base/assert.ts';
import { Recent } from '../base/recent.ts';
import type { Sha } from './git.ts';
import { nameAt, nameEndAt, placeOf } from './index-edit.ts';
import { HEADER_BYTES, indexEntries, MODE_AT, readForNow, STAT_BYTES } from './index-file.ts';
import { FOLDER, type TreeEntry, writeTree } from './tree.ts';

const SHA_BYTES = 20;
const FLAGS_BYTES = 2;
const SHA_AT = STAT_BYTES;
const NAME_AT = STAT_BYTES + SHA_BYTES + FLAGS_BYTES;

/** A folder of an index as git has noted it; without `tree` something in it has changed since. */
export interface Noted {
  readonly tree: Sha | null;
  readonly files: number;
  readonly folders: ReadonlyMap<string, Noted>;
}

/** An index that was read. */
export class IndexTree {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  /** Where the last entry ends. */
  readonly end: number;

  private constructor(bytes: Buffer, starts: Uint32Array, end: number) {
    this.bytes = bytes;
    this.starts = starts;
    this.end = end;
  }

  /** What git has noted of its folders; null where that is nothing. */
  get noted(): Noted | null {
    return notedIn(this.bytes, this.end);
  }

  /** Reads an index file; null where git has to be asked. */
  static read(path: string): IndexTree | null {
    try {
      return IndexTree.of(readFileSync(path));
    } catch {
      return null;
    }
  }

  /** The same for use at once: it is gone when the next one is read. */
  static readForNow(path: string): IndexTree | null {
    const bytes = readForNow(path);
    return bytes === null ? null : IndexTree.of(bytes);
  }

  /** The same for what a file holds, or will. */
  static of(bytes: Buffer): IndexTree | null {
    const found = bytes.length < HEADER_BYTES ? null : indexEntries(bytes, SHA_BYTES);
    if (found === null || found.form !== 'plain') return null;
    return new IndexTree(bytes, found.starts, found.end);
  }

  get version(): number {
    return this.bytes.readUInt32BE(4);
  }

  /** Where the entry of that name begins, in bytes as latin1; null where there is none. */
  startOf(name: string): number | null {
    const start = this.starts[placeOf(this.bytes, this.starts, name)];
    return start !== undefined && nameAt(this.bytes, start) === name ? start : null;
  }

  /** The tree that the whole index is known to be; null where something has changed since. */
  get known(): Sha | null {
    const at = notesAt(this.bytes, this.end);
    return at === null ? null : parseLine(this.bytes, at).tree;
  }

  /** Every path in which this index differs from an earlier one, sorted as an index is. */
  changedSince(before: IndexTree): readonly string[] {
    const changed: string[] = [];
    let [at, old] = [0, 0];
    for (;;) {
      const same = this.#sameRun(at, before, old);
      at += same;
      old += same;
      if (at >= this.starts.length && old >= before.starts.length) return changed;
      const order = this.#compare(at, before, old);
      if (order !== 0) changed.push(order < 0 ? this.#path(at) : before.#path(old));
      else if (!this.#isSame(at, before, old)) changed.push(this.#path(at));
      if (order <= 0) at += 1;
      if (order >= 0) old += 1;
    }
  }

  /** How many entries from there on are the same, byte for byte; found in growing steps. */
  #sameRun(at: number, other: IndexTree, old: number): number {
    const most = Math.min(this.starts.length - at, other.starts.length - old);
    let [run, step] = [0, 1];
    while (run < most) {
      const end = Math.min(run + step, most);
      if (this.#isCopy([at + run, at + end], other, [old + run, old + end])) {
        run = end;
        step *= 2;
      } else if (step === 1) return run;
      else step = Math.max(1, Math.floor((end - run) / 2));
    }
    return run;
  }

  #isCopy(mine: readonly [number, number], other: IndexTree, theirs: readonly [number, number]) {
    const [from, to] = mine.map((nth) => this.starts[nth] ?? this.end) as [number, number];
    const [begin, end] = theirs.map((nth) => other.starts[nth] ?? other.end) as [number, number];
    return to - from === end - begin && this.bytes.compare(other.bytes, begin, end, from, to) === 0;
  }

  /**
   * Writes the trees that are not there yet, and gives the one of the whole. `changed` are folders
   * that are not any more as they are noted, '' being the whole: each gets its new tree.
   */
  writeTree(commonDir: string, noted = this.noted, changed: Trees = new Map()): Sha {
    const end = this.starts.length;
    const whole = { at: 0, skip: 0, path: '', noted };
    const { tree, next } = this.#writeFolder({ commonDir, changed }, whole);
    assert(next === end, 'every entry of the index is in its tree');
    return tree;
  }

  /** The tree of the folder whose name is the first `skip` bytes of the entry at `at`. */
  #writeFolder(
    how: { readonly commonDir: string; readonly changed: Trees },
    { at: first, skip, path, noted }: Folder,
  ): { readonly tree: Sha; readonly next: number } {
    const isChanged = how.changed.has(path);
    if (noted !== null && noted.tree !== null && !isChanged) {
      return { tree: noted.tree, next: first + noted.files };
    }
    const entries = new Map<string, TreeEntry>();
    let at = first;
    while (at < this.starts.length && this.#sharesFolder(first, at, skip)) {
      const start = this.starts[at]!;
      const name = nameAt(this.bytes, start).slice(skip);
      const slash = name.indexOf('/');
      if (slash === -1) {
        entries.set(name, this.entryAt(start));
        at += 1;
        continue;
      }
      const child = name.slice(0, slash);
      const below = noted?.folders.get(child) ?? null;
      const inner = path === '' ? child : `${path}/${child}`;
      const folder = { at, skip: skip + slash + 1, path: inner, noted: below };
      const written = this.#writeFolder(how, folder);
      entries.set(child, { mode: FOLDER, sha: written.tree });
      at = written.next;
    }
    const tree = writeTree(how.commonDir, entries);
    if (isChanged) how.changed.set(path, tree);
    return { tree, next: at };
  }

  #sharesFolder(first: number, at: number, skip: number): boolean {
    if (skip === 0) return true;
    const one = this.starts[first]! + NAME_AT;
    const other = this.starts[at]! + NAME_AT;
    const bytes = this.bytes;
    if (other + skip > bytes.length) return false; // A short name at the end.
    return bytes.compare(bytes, one, one + skip, other, other + skip) === 0;
  }

  /** Mode and content of the entry that begins there. */
  entryAt(start: number): TreeEntry {
    const mode = this.bytes.readUInt32BE(start + MODE_AT).toString(8);
    return { mode, sha: this.bytes.toString('hex', start + SHA_AT, start + SHA_AT + SHA_BYTES) };
  }

  #path(at: number): string {
    const start = this.starts[at]!;
    return this.bytes.toString('utf8', start + NAME_AT, this.#endOf(start));
  }

  #endOf(start: number): number {
    return nameEndAt(this.bytes, start);
  }

  /** Below zero if the entry comes before the other one, by name; past the end is last. */
  #compare(at: number, other: IndexTree, old: number): number {
    if (at >= this.starts.length) return 1;
    if (old >= other.starts.length) return -1;
    const [one, two] = [this.starts[at]!, other.starts[old]!];
    return this.bytes.compare(
      other.bytes,
      two + NAME_AT,
      other.#endOf(two),
      one + NAME_AT,
      this.#endOf(one),
    );
  }

  #isSame(at: number, other: IndexTree, old: number): boolean {
    const [one, two] = [this.starts[at]!, other.starts[old]!];
    if (this.bytes.readUInt32BE(one + MODE_AT) !== other.bytes.readUInt32BE(two + MODE_AT)) {
      return false;
    }
    const [begin, end] = [SHA_AT, SHA_AT + SHA_BYTES];
    return this.bytes.compare(other.bytes, two + begin, two + end, one + begin, one + end) === 0;
  }
}

/** The trees of folders, by path; null where nobody knows it yet. */
export type Trees = Map<string, Sha | null>;

interface Folder {
  readonly at: number;
  readonly skip: number;
  readonly path: string;
  readonly noted: Noted | null;
}

/** Folders in all that are kept. */
const MOST_FOLDERS = 20_000;
/** Those that were read last, by the sum at the end of their index: it is told by its content. */
const known = new Recent<string, Noted>(MOST_FOLDERS, countOf);

/** What the extension `TREE` says, which is among those after the entries; null without one. */
export function notedIn(bytes: Buffer, end: number): Noted | null {
  const at = notesAt(bytes, end);
  if (at === null) return null;
  const sum = bytes.toString('latin1', bytes.length - SHA_BYTES);
  const before = known.get(sum);
  if (before !== undefined) return before;
  const { noted } = parseNoted(bytes, at);
  if (/^\0+$/.test(sum)) return noted; // Git was told not to add it up.
  known.set(sum, noted);
  return noted;
}

/** How many folders there are in one, with itself. */
export function countOf({ folders: below }: Noted): number {
  let count = 1;
  for (const folder of below.values()) count += countOf(folder);
  return count;
}

function notesAt(bytes: Buffer, end: number): number | null {
  for (let at = end; at + 8 <= bytes.length - SHA_BYTES; ) {
    if (bytes.toString('latin1', at, at + 4) === 'TREE') return at + 8;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return null;
}

/** `name NUL files SP folders LF tree`, then its folders; files is -1, without a tree, if unknown. */
function parseNoted(
  bytes: Buffer,
  at: number,
): { readonly name: string; readonly noted: Noted; readonly next: number } {
  const { name, tree, files, count, next: first } = parseLine(bytes, at);
  if (count === 0) return { name, noted: { tree, files, folders: NO_FOLDERS }, next: first };
  let next = first;
  const folders = new Map<string, Noted>();
  for (let left = count; left > 0; left -= 1) {
    const folder = parseNoted(bytes, next);
    folders.set(folder.name, folder.noted);
    next = folder.next;
  }
  return { name, noted: { tree, files, folders }, next };
}

/** Most have none. */
const NO_FOLDERS: ReadonlyMap<string, Noted> = new Map();

function parseLine(bytes: Buffer, at: number) {
  const nameEnd = bytes.indexOf(0, at);
  const space = bytes.indexOf(0x20, nameEnd);
  const line = bytes.indexOf(0x0a, space);
  const files = Number(bytes.toString('latin1', nameEnd + 1, space));
  const count = Number(bytes.toString('latin1', space + 1, line));
  const tree = files >= 0 ? bytes.toString('hex', line + 1, line + 1 + SHA_BYTES) : null;
  const next = line + 1 + (files >= 0 ? SHA_BYTES : 0);
  return { name: bytes.toString('latin1', at, nameEnd), tree, files, count, next };
}
