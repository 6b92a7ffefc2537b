/**
 * What a worktree's index says about itself, read from the file: no process is needed.
 *
 *   I1. `plain` is said only of an index whose every entry git looks at: none is assumed to be
 *       unchanged, skipped, or merely intended, and none stands for a whole folder.
 *   I2. Forms that are not read here (version 4, a split index) are `unknown`: ask git.
 */

import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { Recent } from '../base/recent.ts';

/** An index as it lies on the disk. */
export interface IndexFile {
  readonly form: 'plain' | 'flagged' | 'unknown';
  /** How many are checked out. */
  readonly files: number;
  /** What these take on the disk, in whole blocks; 0 where that is not known. */
  readonly bytes: number;
  /** Whether one of the entries is a submodule. */
  readonly hasSubmodule: boolean;
}

export const HEADER_BYTES = 12;
/** Where these are in an entry. */
export const CTIME_AT = 0;
export const MODE_AT = 24;
const SIZE_AT = 36;
/** Before the hash: times, device, inode, mode, owner, size. The hash follows, then the flags. */
export const STAT_BYTES = 40;
const ASSUME_VALID = 0x8000;
const EXTENDED = 0x4000;
const STAGES = 0x3000;
/** The part of the flags that is the length of the name; a longer one has this length, too. */
export const LONGEST_NAME = 0xfff;
/** In the flags that follow where an entry has extended ones. */
const SKIPPED = 0x4000;
const SUBMODULE = 0o160000;
const BLOCK_BYTES = 4096;

/** Those that were read last, each by its file: it is replaced as a whole when it changes. */
const seen = new Recent<string, { readonly print: string; readonly found: IndexFile | null }>(100);

/** Reads the index of a git folder; null where there is none, or it is no index. */
export function readIndexFile(gitDir: string): IndexFile | null {
  const path = `${gitDir}/index`;
  const print = printOf(path);
  if (print === null) return null;
  const before = seen.get(path);
  if (before?.print === print) return before.found;
  const found = readThrough(path);
  seen.set(path, { print, found });
  return found;
}

/** Tells a file from whatever takes its place: by inode, size and times; null where none is. */
export function printOf(path: string): string | null {
  const now = statSync(path, { throwIfNoEntry: false, bigint: true });
  return now === undefined ? null : `${now.ino} ${now.size} ${now.mtimeNs} ${now.ctimeNs}`;
}

/**
 * Copies an index. Git looks closer at files that are not older than it (they may have been changed
 * within the same tick of the clock), so that the copy must not seem to be newer than it is.
 */
export function copyIndex(from: string, to: string): void {
  const { atimeMs, mtimeMs } = statSync(from);
  copyFileSync(from, to);
  utimesSync(to, atimeMs / 1000, (Math.floor(mtimeMs) - 1) / 1000);
}

let room = Buffer.alloc(0);

/**
 * What a file holds, in memory that is used again: it is gone when the next one is read. An index
 * may have megabytes, and is looked at several times for each task.
 */
export function readForNow(path: string): Buffer | null {
  let fd: number | null = null;
  try {
    fd = openSync(path, 'r');
    const { size } = fstatSync(fd);
    if (size > room.length) room = Buffer.allocUnsafeSlow(size + GROWTH_BYTES);
    let end = 0;
    for (let read = -1; read !== 0 && end < size; end += read) {
      read = readSync(fd, room, end, size - end, end);
    }
    return room.subarray(0, end);
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

const GROWTH_BYTES = 64 * 1024;

function readThrough(path: string): IndexFile | null {
  const index = readForNow(path);
  if (index === null) return null;
  if (index.length < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return null;
  const files = index.readUInt32BE(8);
  const found = indexEntries(index, 20) ?? indexEntries(index, 32);
  if (found === null) return { form: 'unknown', files, bytes: 0, hasSubmodule: false };
  const { form, starts, skipped } = found;
  let [blocks, hasSubmodule] = [0, false];
  for (const at of starts) {
    if (index.readUInt32BE(at + MODE_AT) === SUBMODULE) hasSubmodule = true;
    if (skipped.has(at)) continue;
    blocks += Math.ceil(index.readUInt32BE(at + SIZE_AT) / BLOCK_BYTES);
  }
  const there = starts.length - skipped.size;
  return { form, files: there, bytes: blocks * BLOCK_BYTES, hasSubmodule };
}

/** Where the entries of an index begin, and where the last one ends. */
export interface IndexEntries {
  readonly form: IndexFile['form'];
  readonly starts: Uint32Array;
  /** Those of them that are not checked out, or that git was told to skip. */
  readonly skipped: ReadonlySet<number>;
  readonly end: number;
}

/** Finds the entries; null where they do not fit to hashes of that length, or are not read here. */
export function indexEntries(index: Buffer, hashBytes: number): IndexEntries | null {
  if (index.toString('latin1', 0, 4) !== 'DIRC' || index.readUInt32BE(4) > 3) return null;
  const count = index.readUInt32BE(8);
  if (count * (STAT_BYTES + hashBytes) > index.length) return null;
  const starts = new Uint32Array(count);
  const skipped = new Set<number>();
  let at = HEADER_BYTES;
  let isPlain = true;
  for (let nth = 0; nth < count; nth += 1) {
    starts[nth] = at;
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 4 > index.length) return null;
    const flags = index.readUInt16BE(flagsAt);
    const isExtended = (flags & EXTENDED) !== 0;
    if ((flags & (ASSUME_VALID | EXTENDED | STAGES)) !== 0) isPlain = false;
    if (isExtended && (index.readUInt16BE(flagsAt + 2) & SKIPPED) !== 0) skipped.add(at);
    const end = nameEnd(index, flagsAt + (isExtended ? 4 : 2), flags & LONGEST_NAME);
    if (index[end] !== 0) return null;
    at = end + 8 - ((end - at) % 8); // Names are padded with one to eight NULs.
  }
  if (at > index.length - hashBytes) return null;
  const isSplit = index.toString('latin1', at, at + 4) === 'link';
  const form = isSplit ? 'unknown' : isPlain ? 'plain' : 'flagged';
  return { form, starts, skipped, end: at };
}

/** Where the name ends that begins there. */
export function nameEnd(index: Buffer, begin: number, length: number): number {
  return length < LONGEST_NAME ? begin + length : index.indexOf(0, begin + LONGEST_NAME);
}
