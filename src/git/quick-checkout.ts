/**
 * quick-checkout: a clean working tree moved to another commit, without a process.
 *
 *   Q1. It is done only where git would leave the same files, index and HEAD: plain files, no
 *       attribute or setting that has a say in how they are written, every new content in a file of
 *       its own. Otherwise it says no, and nothing was touched: ask git.
 *   Q2. Unless the caller knows that nobody has touched them, every file is looked at: if one is
 *       not as the index says, git has to put that right.
 *   Q3. A file is replaced, never written into: it may have another name elsewhere.
 *   Q4. It can stop anywhere: the index is replaced after the files, the branch and HEAD move after
 *       it. What is half done git's own `checkout --force` completes.
 */

import {
  type BigIntStats,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { bytePath } from './byte-path.ts';
import type { Sha } from './git.ts';
import { gitFolderOf } from './git-dir.ts';
import {
  areOlder,
  type Edit,
  editedIndex,
  foldersOf,
  isAsNoted,
  isEntry,
  nameAt,
} from './index-edit.ts';
import { type IndexEntries, indexEntries, readForNow } from './index-file.ts';
import { type Noted, notedIn } from './index-tree.ts';
import { MOST_LOOKS } from './look-around.ts';
import { readBlob, writesPlainly } from './loose-object.ts';
import { moveRef } from './loose-ref.ts';
import { treeOf } from './refs.ts';
import { areShared, isOn, isThereFromStart, settingsIn, userFile } from './settings.ts';
import { FOLDER, readTree, type Tree } from './tree.ts';
import { type Change, changesBetween } from './tree-changes.ts';

export interface Move {
  readonly dir: string;
  /** Where its detached HEAD is. */
  readonly from: Sha;
  readonly to: Sha;
  /** A branch that does not exist yet, or null to stay detached. */
  readonly branch: string | null;
  /** Nobody has touched a file since the index was written. */
  readonly untouched: boolean;
  /** Throws where the branch must not be made any more. */
  readonly assertHeld?: (() => void) | undefined;
}

const SHA_BYTES = 20;
const MOST_FILES = 100_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** Moves the working tree; false where that is for git to do. */
export async function quickCheckout(
  commonDir: string,
  { dir, from, to, branch, untouched, assertHeld }: Move,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await writesPlainly(commonDir, signal))) return false;
  if (!(await comparesPlainly(commonDir, signal))) return false;
  if (branch !== null && existsSync(`${commonDir}/refs/heads/${branch}`)) return false;
  const gitDir = gitFolderOf(dir);
  const old = await treeOf(commonDir, from, signal);
  const now = await treeOf(commonDir, to, signal);
  const changes = await changesBetween(commonDir, old, now, signal);
  if (changes === null) return false;
  let before = readIndex(`${gitDir}/index`, untouched);
  let noted = before === null ? null : notedIn(before.bytes, before.entries.end);
  if (before !== null && (noted?.tree !== old || noted.files !== before.entries.starts.length)) {
    const copy = { ...before, bytes: Buffer.from(before.bytes) };
    noted = await notesOf(commonDir, copy, old, signal);
    before = readIndex(`${gitDir}/index`, untouched); // What was read before is gone by now.
  }
  if (noted === null || before === null) return false;
  if (!untouched && !isClean(dir, before)) return false;
  const contents = contentsOf(commonDir, changes.files);
  if (contents === null || !areFolders(dir, changes.files)) return false;
  const fill = (): Buffer => {
    const edits = changes.files.map((change) => place(dir, change, contents.get(change.name)));
    const { bytes, entries } = before;
    return editedIndex(bytes, entries, edits, { noted, folders: changes.folders });
  };
  writeIndex(gitDir, fill);
  return moveHead(commonDir, gitDir, { to, branch, assertHeld }, signal);
}

/** Settings under which git writes or compares files, or keeps its index, not as we do. */
const OF_FILES = 'autocrlf|eol|attributesfile|symlinks|filemode|ignorecase|precomposeunicode';
const OF_THE_INDEX = 'fsmonitor|untrackedcache|splitindex|checkstat|trustctime|sparsecheckout';
const OF_ALL = 'index\\..*|feature\\..*|submodule\\.recurse|extensions\\..*';
const ODD = new RegExp(`^(?:core\\.(?:${OF_FILES}|${OF_THE_INDEX})|${OF_ALL})$`);

/** Whether a file is to git what it is to us: the bytes that it holds, and all of its times. */
export async function comparesPlainly(commonDir: string, signal: AbortSignal): Promise<boolean> {
  const settings = await settingsIn(commonDir, signal);
  const isUsual = (name: string): boolean => name === 'core.filemode' && isOn(settings, name);
  if ([...settings.keys()].some((name) => ODD.test(name) && !isUsual(name))) return false;
  if (!areShared(settings)) return false;
  if (existsSync(`${commonDir}/info/attributes`)) return false;
  return !isThereFromStart(userFile('attributes')) && !isThereFromStart('/etc/gitattributes');
}

interface Index {
  readonly bytes: Buffer;
  readonly entries: IndexEntries;
}

/**
 * The index for use at once. Null where it has to be left to git. That includes an index which is
 * not younger than its files, unless these are known to be untouched: they may have been changed
 * within the same tick of the clock.
 */
function readIndex(path: string, untouched: boolean): Index | null {
  const bytes = readForNow(path);
  const entries = bytes === null ? null : indexEntries(bytes, SHA_BYTES);
  if (bytes === null || entries === null || entries.form !== 'plain' || bytes.readUInt32BE(4) !== 2)
    return null;
  if (entries.starts.length > MOST_FILES) return null;
  if (untouched) return { bytes, entries };
  const { mtimeNs } = statSync(path, { bigint: true });
  return areOlder(bytes, entries.starts, mtimeNs) ? { bytes, entries } : null;
}

/** Notes on all folders of an index that holds exactly this tree; null where it does not. */
async function notesOf(
  commonDir: string,
  index: Index,
  tree: Sha,
  signal: AbortSignal,
): Promise<Noted | null> {
  const walk = { index, at: 0, read: (sha: Sha) => readTree(commonDir, sha, signal) };
  const known = notedIn(index.bytes, index.entries.end);
  const noted = await noteFolder(walk, { prefix: '', sha: tree, known });
  return walk.at === index.entries.starts.length ? noted : null;
}

interface Walk {
  readonly index: Index;
  /** The entry that comes next. */
  at: number;
  readonly read: (sha: Sha) => Promise<Tree>;
}

async function noteFolder(
  walk: Walk,
  folder: { readonly prefix: string; readonly sha: Sha; readonly known: Noted | null },
): Promise<Noted | null> {
  const { prefix, sha, known } = folder;
  if (known?.tree === sha) {
    walk.at += known.files;
    return known;
  }
  const { bytes, entries } = walk.index;
  const tree = await walk.read(sha);
  const first = walk.at;
  const folders = new Map<string, Noted>();
  for (let found = 0; found < tree.size; found += 1) {
    const start = entries.starts[walk.at];
    const name = start === undefined ? '' : nameAt(bytes, start);
    if (start === undefined || !name.startsWith(prefix)) return null;
    const [part = '', ...rest] = name.slice(prefix.length).split('/');
    const entry = tree.get(part);
    if (entry === undefined || (entry.mode === FOLDER) !== rest.length > 0) return null;
    if (entry.mode !== FOLDER) {
      if (!isEntry(bytes, start, entry)) return null;
      walk.at += 1;
      continue;
    }
    const below = known?.folders.get(part) ?? null;
    const inner = { prefix: `${prefix}${part}/`, sha: entry.sha, known: below };
    const noted = await noteFolder(walk, inner);
    if (noted === null) return null;
    folders.set(part, noted);
  }
  return { tree: sha, files: walk.at - first, folders };
}

/** Whether every file is as the index says. */
function isClean(dir: string, { bytes, entries }: Index): boolean {
  if (entries.starts.length > MOST_LOOKS) return false;
  return entries.starts.every((start) => {
    const stat = statOf(dir, nameAt(bytes, start));
    return stat !== undefined && isAsNoted(bytes, start, stat);
  });
}

function contentsOf(
  commonDir: string,
  changes: readonly Change[],
): ReadonlyMap<string, Buffer> | null {
  const contents = new Map<string, Buffer>();
  let bytes = 0;
  for (const { name, new: now } of changes) {
    if (now === undefined) continue;
    const content = readBlob(commonDir, now.sha);
    bytes += content?.length ?? 0;
    if (content === null || bytes > MOST_BYTES) return null;
    contents.set(name, content);
  }
  return contents;
}

/** Whether what leads to the files is folders, as far as it is there: a link leads elsewhere. */
function areFolders(dir: string, changes: readonly Change[]): boolean {
  const folders = new Set(changes.flatMap(({ name }) => foldersOf(name)));
  return [...folders].every((folder) => statOf(dir, folder)?.isDirectory() ?? true);
}

/** Makes a file what it is to be. */
function place(dir: string, change: Change, content: Buffer | undefined): Edit {
  const { name, old, new: now } = change;
  const path = bytePath(dir, name);
  if (old !== undefined) unlinkSync(path);
  if (now === undefined || content === undefined) {
    removeEmptyFolders(dir, name);
    return { name, file: null, more: -1 };
  }
  const folder = foldersOf(name).at(-1) ?? '';
  if (folder !== '') mkdirSync(bytePath(dir, folder), { recursive: true });
  const stat = writeNew(path, content, now.mode === '100755' ? 0o777 : 0o666);
  return { name, file: { ...now, stat }, more: old === undefined ? 1 : 0 };
}

/** Writes a file that is not there yet. */
export function writeNew(path: string | Buffer, content: Buffer, mode: number): BigIntStats {
  const fd = openSync(path, 'wx', mode);
  try {
    writeFileSync(fd, content);
    return fstatSync(fd, { bigint: true });
  } finally {
    closeSync(fd);
  }
}

function removeEmptyFolders(dir: string, name: string): void {
  for (const folder of foldersOf(name).toReversed()) {
    if (folder === '') return;
    try {
      rmdirSync(bytePath(dir, folder));
    } catch {
      return; // Something is left in it.
    }
  }
}

/** Replaces the index, under the lock that git itself would take. */
export function writeIndex(gitDir: string, contents: () => Buffer): void {
  const lock = `${gitDir}/index.lock`;
  const fd = openSync(lock, 'wx');
  try {
    writeFileSync(fd, contents());
    renameSync(lock, `${gitDir}/index`);
  } catch (error) {
    unlinkSync(lock);
    throw error;
  } finally {
    closeSync(fd);
  }
}

async function moveHead(
  commonDir: string,
  gitDir: string,
  { to, branch, assertHeld }: Pick<Move, 'to' | 'branch' | 'assertHeld'>,
  signal: AbortSignal,
): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  const move = { ref, to, from: '0'.repeat(to.length), assertHeld };
  if (branch !== null && (await moveRef(commonDir, move, signal)) !== true) return false;
  const next = `${gitDir}/HEAD.next`;
  writeFileSync(next, branch === null ? `${to}\n` : `ref: ${ref}\n`);
  renameSync(next, `${gitDir}/HEAD`);
  return true;
}

function statOf(dir: string, name: string): Stats | undefined {
  return lstatSync(bytePath(dir, name), { throwIfNoEntry: false });
}
