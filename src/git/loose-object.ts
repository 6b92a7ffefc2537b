/**
 * Single objects as files: reading and writing one costs a file, not a process.
 *
 *   O1. Only what git would write alike is written: SHA-1, the usual modes. `writesPlainly` says
 *       whether a repository is of that kind; for others the caller uses git. It says no as well
 *       where git would not read what is written, but something in its place.
 *   O2. An object appears whole or not at all, under the name of its contents; writing one that is
 *       there already changes nothing.
 *   O3. Reading says null for anything that is not a file of its own: packed, or not there.
 *   O4. Contents never change, so that small ones are kept in memory: each workspace needs them.
 *   O5. A small object is stored as it is, in the one frame that git knows: to compress it would
 *       cost more time than all the rest, and it takes a block of the disk either way.
 *
 *     78 01 ─ 01 ─ length, its complement (two bytes each) ─ the object ─ its Adler-32
 */

import { hash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { Recent } from '../base/recent.ts';
import type { Sha } from './git.ts';
import { areReadAsWritten } from './ref-files.ts';
import { areShared, type Settings, settingsIn } from './settings.ts';

export type ObjectType = 'commit' | 'tree' | 'blob';

/** Settings under which git writes objects in another way than we do; `fsync`: and more surely. */
const OF_CORE = 'core\\.(?:sharedrepository|fsync.*)';
const OF_COMMITS = 'i18n\\.commitencoding|commit\\.cleanup';
const ODD = new RegExp(`^(?:extensions\\.objectformat|${OF_CORE}|${OF_COMMITS})$`);

const hasObjects = new Set<string>();
/** What was found out of settings, which are read once; it is asked for several times per task. */
const plain = new WeakMap<Settings, boolean>();

/** Whether objects of this repository can be read and written as files. */
export async function writesPlainly(commonDir: string, signal: AbortSignal): Promise<boolean> {
  if (!hasObjects.has(commonDir) && !existsSync(`${commonDir}/objects`)) return false;
  hasObjects.add(commonDir);
  if (!areReadAsWritten(commonDir)) return false;
  const settings = await settingsIn(commonDir, signal);
  const known = plain.get(settings);
  if (known !== undefined) return known;
  const isPlain = areShared(settings) && ![...settings.keys()].some((name) => ODD.test(name));
  plain.set(settings, isPlain);
  return isPlain;
}

/** The contents of an object that is a file of its own; null says nothing. */
export function readLoose(commonDir: string, sha: Sha, type: ObjectType): Buffer | null {
  const path = pathOf(commonDir, sha);
  if (!existsSync(path)) return null;
  try {
    const whole = unframed(readFileSync(path));
    const end = whole.indexOf(0);
    return whole.toString('latin1', 0, end).startsWith(`${type} `) ? whole.subarray(end + 1) : null;
  } catch {
    return null;
  }
}

/** What all contents that are kept may take, and one of them. */
const MOST_KEPT_BYTES = 2 * 1024 * 1024;
const MOST_BLOB_BYTES = 64 * 1024;
/** As latin1: a small buffer may be part of a large one, which it would keep. */
const blobs = new Recent<Sha, string>(MOST_KEPT_BYTES, ({ length }) => length);

/** The contents of a file whose object is a file of its own; null says nothing. */
export function readBlob(commonDir: string, sha: Sha): Buffer | null {
  const known = blobs.get(sha);
  if (known !== undefined) return Buffer.from(known, 'latin1');
  const blob = readLoose(commonDir, sha, 'blob');
  if (blob === null || blob.length > MOST_BLOB_BYTES) return blob;
  blobs.set(sha, blob.toString('latin1'));
  return blob;
}

/** What a commit says of itself. */
export interface CommitHeader {
  readonly tree: Sha;
  readonly parents: readonly Sha[];
}

const headers = new Recent<Sha, CommitHeader>(1_000);

/** The header of a commit that is a file of its own; null says nothing. */
export function headerOf(commonDir: string, commit: Sha): CommitHeader | null {
  const known = headers.get(commit);
  if (known !== undefined) return known;
  const text = readLoose(commonDir, commit, 'commit')?.toString('latin1');
  const tree = text === undefined ? undefined : /^tree ([0-9a-f]+)\n/.exec(text)?.[1];
  if (text === undefined || tree === undefined) return null;
  const header = text.slice(0, text.indexOf('\n\n'));
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent]) => parent!);
  noteHeader(commit, { tree, parents });
  return { tree, parents };
}

/** Remembers what a commit says of itself. */
export function noteHeader(commit: Sha, header: CommitHeader): void {
  headers.set(commit, header);
}

/** The name of the object that a file's content is. */
export function blobOf(content: Buffer): Sha {
  return hash('sha1', wholeOf('blob', content));
}

function wholeOf(type: ObjectType, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
}

/** Writes an object and gives its name. */
export function writeLoose(commonDir: string, type: ObjectType, body: Buffer): Sha {
  const whole = wholeOf(type, body);
  const sha = hash('sha1', whole);
  const path = pathOf(commonDir, sha);
  if (existsSync(path) && isFreshened(path)) return sha;
  written += 1;
  const name = `tmp_obj_${WRITER}-${written}`; // As git calls them: its gc knows them.
  const folder = dirname(path);
  const temporary = `${folder}/${name}`;
  const bytes = framed(whole);
  if (!folders.has(folder)) makeFolder(folder);
  folders.add(folder);
  try {
    writeFileSync(temporary, bytes, { mode: 0o444 });
  } catch {
    makeFolder(folder); // A clean-up has removed it meanwhile.
    writeFileSync(temporary, bytes, { mode: 0o444 });
  }
  renameSync(temporary, path);
  return sha;
}

/** Not with `recursive`, which says of a disk that cannot be written to that a folder is missing. */
function makeFolder(path: string): void {
  try {
    if (!existsSync(path)) mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** As git does it: what is old and not in use yet is what a clean-up removes. */
function isFreshened(path: string): boolean {
  const now = new Date();
  try {
    utimesSync(path, now, now);
    return true;
  } catch {
    return false; // Gone just now, or somebody else's: it is written again.
  }
}

/** Folders of objects that were there: an error for each that is not would cost more. */
const folders = new Set<string>();
/** Names that no other process gives. */
const WRITER = randomUUID();
let written = 0;

/** Larger ones are compressed. A tree of a thousand names is mostly hashes, which do not shrink. */
const MOST_STORED = 32_000;
const FRAME = Buffer.from([0x78, 0x01, 0x01]);
const LENGTHS_END = FRAME.length + 4;
const SUM_BYTES = 4;

function framed(whole: Buffer): Buffer {
  if (whole.length > MOST_STORED) return deflateSync(whole, { level: 1 });
  const bytes = Buffer.allocUnsafe(LENGTHS_END + whole.length + SUM_BYTES);
  FRAME.copy(bytes);
  bytes.writeUInt16LE(whole.length, FRAME.length);
  bytes.writeUInt16LE(0xffff - whole.length, FRAME.length + 2);
  whole.copy(bytes, LENGTHS_END);
  bytes.writeUInt32BE(adler32(whole), LENGTHS_END + whole.length);
  return bytes;
}

/** What is in one frame of ours is there to read; anything else is for the library. */
function unframed(bytes: Buffer): Buffer {
  const end = bytes.length - SUM_BYTES;
  const isOurs = end >= LENGTHS_END && FRAME.equals(bytes.subarray(0, FRAME.length));
  if (!isOurs || bytes.readUInt16LE(FRAME.length) !== end - LENGTHS_END) return inflateSync(bytes);
  const whole = bytes.subarray(LENGTHS_END, end);
  return bytes.readUInt32BE(end) === adler32(whole) ? whole : inflateSync(bytes);
}

/** So many sums of bytes stay below 2³². */
const ADDED_AT_ONCE = 5_552;

function adler32(bytes: Buffer): number {
  let [low, high] = [1, 0];
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(at + ADDED_AT_ONCE, bytes.length);
    for (; at < end; at += 1) {
      low += bytes[at]!;
      high += low;
    }
    low %= 65_521;
    high %= 65_521;
  }
  return high * 65_536 + low;
}

function pathOf(commonDir: string, sha: Sha): string {
  return `${commonDir}/objects/${sha.slice(0, 2)}/${sha.slice(2)}`;
}
