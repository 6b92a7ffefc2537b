/**
 * What a worktree's index says about itself, read from the file: no process is needed.
 *
 *   I1. `plain` is said only of an index whose every entry git looks at: none is assumed to be
 *       unchanged, skipped, or merely intended, and none stands for a whole folder.
 *   I2. Forms that are not read here (version 4, a split index) are `unknown`: ask git.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
/** Where the mode is in an entry. */
export const MODE_AT = 24;
const SIZE_AT = 36;
/** Before the hash: times, device, inode, mode, owner, size. The hash follows, then the flags. */
export const STAT_BYTES = 40;
const ASSUME_VALID = 0x8000;
const EXTENDED = 0x4000;
const STAGES = 0x3000;
/** In the flags that follow where an entry has extended ones. */
const SKIPPED = 0x4000;
const SUBMODULE = 0o160000;
const BLOCK_BYTES = 4096;

/** Reads the index of a git folder; null where there is none, or it is no index. */
export function readIndexFile(gitDir: string): IndexFile | null {
  let index: Buffer;
  try {
    index = readFileSync(join(gitDir, 'index'));
  } catch {
    return null;
  }
  if (index.length < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return null;
  const files = index.readUInt32BE(8);
  const found = indexEntries(index, 20) ?? indexEntries(index, 32);
  if (found === null) return { form: 'unknown', files, bytes: 0, hasSubmodule: false };
  const { form, starts, skipped } = found;
  const there = skipped.size === 0 ? starts : starts.filter((at) => !skipped.has(at));
  const blocksOf = (at: number): number =>
    Math.ceil(index.readUInt32BE(at + SIZE_AT) / BLOCK_BYTES);
  return {
    form,
    files: there.length,
    bytes: there.reduce((sum, at) => sum + blocksOf(at) * BLOCK_BYTES, 0),
    hasSubmodule: starts.some((at) => index.readUInt32BE(at + MODE_AT) === SUBMODULE),
  };
}

/** Where the entries of an index begin, and where the last one ends. */
export interface IndexEntries {
  readonly form: IndexFile['form'];
  readonly starts: readonly number[];
  /** Those of them that are not checked out, or that git was told to skip. */
  readonly skipped: ReadonlySet<number>;
  readonly end: number;
}

/** Finds the entries; null where they do not fit to hashes of that length, or are not read here. */
export function indexEntries(index: Buffer, hashBytes: number): IndexEntries | null {
  if (index.toString('latin1', 0, 4) !== 'DIRC' || index.readUInt32BE(4) > 3) return null;
  const starts: number[] = [];
  const skipped = new Set<number>();
  let at = HEADER_BYTES;
  let isPlain = true;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    starts.push(at);
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 4 > index.length) return null;
    const flags = index.readUInt16BE(flagsAt);
    const isExtended = (flags & EXTENDED) !== 0;
    if ((flags & (ASSUME_VALID | EXTENDED | STAGES)) !== 0) isPlain = false;
    if (isExtended && (index.readUInt16BE(flagsAt + 2) & SKIPPED) !== 0) skipped.add(at);
    const end = index.indexOf(0, flagsAt + (isExtended ? 4 : 2));
    if (end === -1) return null;
    at += Math.floor((end - at) / 8 + 1) * 8; // Names are padded with one to eight NULs.
  }
  if (at > index.length - hashBytes) return null;
  const isSplit = index.toString('latin1', at, at + 4) === 'link';
  const form = isSplit ? 'unknown' : isPlain ? 'plain' : 'flagged';
  return { form, starts, skipped, end: at };
}
