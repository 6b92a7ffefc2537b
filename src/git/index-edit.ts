/**
 * An index with some entries changed, as bytes: what git would have written after it had checked
 * out these files.
 *
 *   E1. Only a plain index (index-file.ts, I1) with hashes of the usual length is edited. Entries
 *       that are not named stay byte for byte.
 *   E2. Of the extensions only the one with the known trees stays, brought up to date: what git
 *       believes of folders is always true.
 */

import { hash } from 'node:crypto';
import type { BigIntStats, Stats } from 'node:fs';
import type { Sha } from './git.ts';
import { type IndexEntries, LONGEST_NAME, MODE_AT, nameEnd, STAT_BYTES } from './index-file.ts';
import type { Noted } from './index-tree.ts';
import type { TreeEntry } from './tree.ts';

const SHA_BYTES = 20;
const FLAGS_AT = STAT_BYTES + SHA_BYTES;
export const NAME_AT = FLAGS_AT + 2;
const LINK = 0o120000;
const MTIME_AT = 8;
const MASK = 0xffffffffn;
const SECOND = 1_000_000_000n;

/** A file as it is from now on; null for one that is gone. Names are bytes, as latin1. */
export interface Edit {
  readonly name: string;
  readonly file: { readonly mode: string; readonly sha: Sha; readonly stat: BigIntStats } | null;
  /** How many more files there are because of it: 1, 0 or -1. */
  readonly more: number;
}

export interface NewTrees {
  readonly noted: Noted;
  /**
   * The trees of all folders in which something has changed, by path; '' is the whole. Null where
   * nobody knows it yet.
   */
  readonly folders: ReadonlyMap<string, Sha | null>;
}

/** The new contents of the index file; gone when the next index is edited. */
export function editedIndex(
  index: Buffer,
  entries: Pick<IndexEntries, 'starts' | 'end'>,
  edits: readonly Edit[],
  trees: NewTrees,
): Buffer {
  return new IndexEdit(index, entries, edits).close(trees);
}

/** Indexes may have megabytes and are edited for each task, so that the memory is used again. */
let room = Buffer.alloc(0);
const GROWTH_BYTES = 64 * 1024;

/** An index while it is edited: its entries first, what is noted of folders when that is known. */
export class IndexEdit {
  readonly #edits: readonly Edit[];
  /** Where the last entry ends. */
  readonly #end: number;

  constructor(
    index: Buffer,
    { starts, end }: Pick<IndexEntries, 'starts' | 'end'>,
    edits: readonly Edit[],
  ) {
    this.#edits = edits;
    const sorted = [...edits].sort((a, b) => (a.name < b.name ? -1 : 1));
    const entries = sorted.map(({ name, file }) => (file === null ? null : entryOf(name, file)));
    const bytes = entries.reduce((sum, entry) => sum + (entry?.length ?? 0), index.length);
    if (bytes > room.length) room = Buffer.allocUnsafeSlow(bytes + GROWTH_BYTES);
    let [copied, at] = [0, 0];
    const copyTo = (until: number): void => {
      at += index.copy(room, at, copied, until);
    };
    for (const [which, { name }] of sorted.entries()) {
      const nth = placeOf(index, starts, name);
      const place = starts[nth] ?? end;
      copyTo(place);
      at += entries[which]?.copy(room, at) ?? 0;
      const isThere = nth < starts.length && nameAt(index, place) === name;
      copied = isThere ? (starts[nth + 1] ?? end) : place;
    }
    copyTo(end);
    this.#end = at;
    const count = edits.reduce((sum, { more }) => sum + more, starts.length);
    room.writeUInt32BE(count, 8);
  }

  /** As an index that nothing is noted in. */
  get bytes(): Buffer {
    return this.#with(Buffer.alloc(0)).fill(0, this.#end);
  }

  /** The whole index. */
  close(trees: NewTrees): Buffer {
    const whole = this.#with(treesOf(trees, this.#edits));
    const body = whole.subarray(0, -SHA_BYTES);
    hash('sha1', body, 'buffer').copy(whole, body.length);
    return whole;
  }

  #with(notes: Buffer): Buffer {
    const bytes = this.#end + notes.length + SHA_BYTES;
    if (bytes > room.length) {
      const larger = Buffer.allocUnsafeSlow(bytes + GROWTH_BYTES);
      room.copy(larger, 0, 0, this.#end);
      room = larger;
    }
    notes.copy(room, this.#end);
    return room.subarray(0, bytes);
  }
}

/** Which entry has this name, or would come after it. */
export function placeOf(index: Buffer, starts: Uint32Array, name: string): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (nameAt(index, starts[middle]!) < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The name of an entry, in bytes as latin1. */
export function nameAt(index: Buffer, start: number): string {
  return index.toString('latin1', start + NAME_AT, nameEndAt(index, start));
}

/** Where the name of an entry ends. */
export function nameEndAt(index: Buffer, start: number): number {
  const length = index.readUInt16BE(start + FLAGS_AT) & LONGEST_NAME;
  return nameEnd(index, start + NAME_AT, length);
}

/** Whether an entry is this one of a tree. */
export function isEntry(index: Buffer, start: number, { mode, sha }: TreeEntry): boolean {
  if (index.readUInt32BE(start + MODE_AT) !== Number.parseInt(mode, 8)) return false;
  return index.toString('hex', start + STAT_BYTES, start + STAT_BYTES + SHA_BYTES) === sha;
}

/** Whether every file was written before that time. */
export function areOlder(index: Buffer, starts: Uint32Array, timeNs: bigint): boolean {
  const [seconds, rest] = [Number(timeNs / SECOND), Number(timeNs % SECOND)];
  return starts.every((start) => {
    const written = index.readUInt32BE(start + MTIME_AT);
    return (
      written < seconds || (written === seconds && index.readUInt32BE(start + MTIME_AT + 4) < rest)
    );
  });
}

/** What is lost of a time in ms that is one number. */
const ABOUT_MS = 0.0005;
const WORD = 2 ** 32;

/** Whether a file or link is as it was when git last looked at it, to half a microsecond. */
export function isAsNoted(index: Buffer, start: number, stat: Stats): boolean {
  const word = (nth: number): number => index.readUInt32BE(start + 4 * nth);
  const isTime = (ms: number, nth: number): boolean =>
    Math.abs(word(nth) * 1_000 + word(nth + 1) / 1_000_000 - ms) < ABOUT_MS;
  const isKind = word(6) === LINK ? stat.isSymbolicLink() : stat.isFile();
  return (
    isKind &&
    isTime(stat.ctimeMs, 0) &&
    isTime(stat.mtimeMs, 2) &&
    word(9) === stat.size % WORD && // Whoever changes anything else changes the ctime.
    word(5) === stat.ino % WORD
  );
}

function entryOf(name: string, { mode, sha, stat }: NonNullable<Edit['file']>): Buffer {
  const length = NAME_AT + name.length;
  const entry = Buffer.alloc(Math.floor(length / 8 + 1) * 8); // Padded with one to eight NULs.
  writeStat(entry, stat, Number.parseInt(mode, 8));
  entry.write(sha, STAT_BYTES, 'hex');
  entry.writeUInt16BE(Math.min(name.length, LONGEST_NAME), FLAGS_AT);
  entry.write(name, NAME_AT, 'latin1');
  return entry;
}

/** ctime, mtime, device, inode, mode, owner, group, size: 32 bits each, times are two of them. */
function writeStat(entry: Buffer, stat: BigIntStats, mode: number): void {
  writeTime(entry, 0, stat.ctimeNs);
  writeTime(entry, MTIME_AT, stat.mtimeNs);
  entry.writeUInt32BE(Number(stat.dev & MASK), 16);
  entry.writeUInt32BE(Number(stat.ino & MASK), 20);
  entry.writeUInt32BE(mode, MODE_AT);
  entry.writeUInt32BE(Number(stat.uid), 28);
  entry.writeUInt32BE(Number(stat.gid), 32);
  entry.writeUInt32BE(Number(stat.size & MASK), 36);
}

function writeTime(entry: Buffer, at: number, timeNs: bigint): void {
  const seconds = timeNs / SECOND;
  entry.writeUInt32BE(Number(seconds & MASK), at);
  entry.writeUInt32BE(Number((timeNs - seconds * SECOND) & MASK), at + 4);
}

/** `TREE`, its length, and for each folder `name NUL files SP folders LF tree`. */
function treesOf({ noted, folders }: NewTrees, edits: readonly Edit[]): Buffer {
  const more = new Map<string, number>();
  for (const { name, more: count } of edits) {
    for (const folder of foldersOf(name)) more.set(folder, (more.get(folder) ?? 0) + count);
  }
  const parts: Buffer[] = [];
  const write = (name: string, path: string, before: Noted): void => {
    const below = [...childrenOf(path, before, folders)].filter(
      ([, child]) => child.known.files + (more.get(child.path) ?? 0) > 0,
    );
    const tree = folders.has(path) ? folders.get(path)! : before.tree;
    const files = tree === null ? -1 : before.files + (more.get(path) ?? 0);
    parts.push(Buffer.from(`${name}\0${files} ${below.length}\n`, 'latin1'));
    if (tree !== null) parts.push(Buffer.from(tree, 'hex'));
    for (const [child, { path: inner, known }] of below) write(child, inner, known);
  };
  write('', '', noted);
  const body = Buffer.concat(parts);
  const header = Buffer.alloc(8, 'TREE');
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

const NEW: Noted = { tree: null, files: 0, folders: new Map() };

/** The folders directly in one: those that were known, and new ones. */
function* childrenOf(
  path: string,
  { folders: known }: Noted,
  changed: ReadonlyMap<string, Sha | null>,
): Iterable<[string, { readonly path: string; readonly known: Noted }]> {
  const prefix = path === '' ? '' : `${path}/`;
  for (const [name, child] of known) {
    // One that git does not know is left out: it will find it again.
    if (child.tree !== null) yield [name, { path: `${prefix}${name}`, known: child }];
  }
  for (const [inner, tree] of changed) {
    const name = inner.slice(prefix.length);
    const isDirect = inner !== '' && inner.startsWith(prefix) && !name.includes('/') && name !== '';
    if (isDirect && tree !== null && !known.has(name)) yield [name, { path: inner, known: NEW }];
  }
}

/** The folders that a file is in, '' being the outermost. */
export function foldersOf(name: string): readonly string[] {
  const parts = name.split('/').slice(0, -1);
  return ['', ...parts.map((_, nth) => parts.slice(0, nth + 1).join('/'))];
}
