/**
 * quick-fill: the files of a new worktree, written as they are in another one that git has just
 * filled. Several tasks begin at the same commit; in a small repository starting git costs more
 * than writing the files.
 *
 *   F1. Only what git would write alike is written: plain files without attributes, settings or
 *       submodules that have a say. Otherwise git fills every worktree.
 *   F2. What is copied are the contents that the commit names: each was compared with its id.
 *   F3. The index is that of a checkout: all files noted, and the trees of all folders.
 */

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bytePath } from './byte-path.ts';
import type { Sha } from './git.ts';
import { gitFolderOf } from './git-dir.ts';
import { editedIndex, foldersOf, nameAt } from './index-edit.ts';
import { HEADER_BYTES } from './index-file.ts';
import { IndexTree, type Noted } from './index-tree.ts';
import { blobOf, writesPlainly } from './loose-object.ts';
import { comparesPlainly, writeIndex, writeNew } from './quick-checkout.ts';
import { noteTree } from './refs.ts';
import { FOLDER, remember, type TreeEntry } from './tree.ts';
import { isRefused, PLAIN_MODES } from './tree-changes.ts';

export interface ToFill {
  readonly commonDir: string;
  readonly dir: string;
  /** Where its HEAD is. */
  readonly commit: Sha;
}

interface Filled {
  readonly files: readonly (TreeEntry & { readonly name: string; readonly content: Buffer })[];
  readonly folders: ReadonlyMap<string, Sha>;
}

/** Git does more of them in less time. */
const MOST_FILES = 300;
const MOST_BYTES = 1024 * 1024;
/** What the index takes for one, with a long name. */
const BYTES_PER_FILE = 200;

/** The one that was filled last, or is about to be. */
let last: { readonly key: string; readonly filled: Promise<Filled | null> } | null = null;

/** Fills a new worktree; `byGit` does it where nobody has before, or we may not. */
export async function fill(
  what: ToFill,
  byGit: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { commonDir, dir, commit } = what;
  const isPlain =
    isSmall(commonDir) &&
    (await writesPlainly(commonDir, signal)) &&
    (await comparesPlainly(commonDir, signal));
  if (!isPlain) return byGit();
  const key = `${commit} ${commonDir}`;
  if (last?.key !== key) {
    last = { key, filled: byGit().then(() => learn(commit, filledIn(dir))) };
    last.filled.catch(() => forget(key));
    await last.filled;
    return;
  }
  const filled = await last.filled.catch(() => null); // Somebody else's may have been stopped.
  if (filled === null) return byGit();
  signal.throwIfAborted();
  copyInto(dir, filled);
}

/** Whether it seems so by the main checkout: in a large one nobody is to wait for the first. */
function isSmall(commonDir: string): boolean {
  const index = statSync(join(commonDir, 'index'), { throwIfNoEntry: false });
  return index !== undefined && index.size <= MOST_FILES * BYTES_PER_FILE;
}

/** Whoever moves or merges such work next need not ask git for its trees. */
function learn(commit: Sha, filled: Filled | null): Filled | null {
  if (filled === null) return null;
  const inside = new Map<string, Map<string, TreeEntry>>();
  const enter = (path: string, entry: TreeEntry): void => {
    const slash = path.lastIndexOf('/');
    const folder = path.slice(0, Math.max(slash, 0));
    const names = inside.get(folder) ?? new Map<string, TreeEntry>();
    inside.set(folder, names.set(path.slice(slash + 1), entry));
  };
  for (const { name, mode, sha } of filled.files) enter(name, { mode, sha });
  for (const [path, sha] of filled.folders) if (path !== '') enter(path, { mode: FOLDER, sha });
  for (const [path, sha] of filled.folders) remember(sha, inside.get(path) ?? new Map());
  noteTree(commit, filled.folders.get('')!);
  return filled;
}

function forget(key: string): void {
  if (last?.key === key) last = null;
}

/** What git has put there; null where that is not to be copied. */
function filledIn(dir: string): Filled | null {
  const index = IndexTree.read(`${gitFolderOf(dir)}/index`);
  if (index === null || index.version !== 2 || index.known === null) return null;
  if (index.starts.length > MOST_FILES) return null;
  const files: Filled['files'][number][] = [];
  let bytes = 0;
  for (const start of index.starts) {
    const name = nameAt(index.bytes, start);
    const entry = index.entryAt(start);
    if (!PLAIN_MODES.includes(entry.mode) || name.split('/').some(isOdd)) return null;
    const content = contentOf(dir, name, entry.sha);
    bytes += content?.length ?? 0;
    if (content === null || bytes > MOST_BYTES) return null;
    files.push({ name, content, ...entry });
  }
  return { files, folders: new Map(treesIn(index.noted!, '')) };
}

function isOdd(name: string): boolean {
  return isRefused(name) || name === '.gitattributes' || name === '.gitmodules';
}

function contentOf(dir: string, name: string, sha: Sha): Buffer | null {
  const content = readFileSync(bytePath(dir, name));
  if (blobOf(content) !== sha) return null;
  const own = Buffer.allocUnsafeSlow(content.length); // Not part of a larger one that it keeps.
  content.copy(own);
  return own;
}

function* treesIn({ tree, folders }: Noted, path: string): Iterable<readonly [string, Sha]> {
  if (tree !== null) yield [path, tree];
  for (const [name, folder] of folders) {
    yield* treesIn(folder, path === '' ? name : `${path}/${name}`);
  }
}

const EMPTY = Buffer.from('DIRC\0\0\0\x02\0\0\0\0', 'latin1');
const NOTHING = { starts: new Uint32Array(), end: HEADER_BYTES };
const UNKNOWN: Noted = { tree: null, files: 0, folders: new Map() };

function copyInto(dir: string, { files, folders }: Filled): void {
  const inside = new Set(files.flatMap(({ name }) => foldersOf(name)));
  for (const folder of [...inside].sort()) {
    if (folder !== '') mkdirSync(bytePath(dir, folder));
  }
  writeIndex(gitFolderOf(dir), () => {
    const edits = files.map(({ name, content, mode, sha }) => {
      const stat = writeNew(bytePath(dir, name), content, mode === '100755' ? 0o777 : 0o666);
      return { name, file: { mode, sha, stat }, more: 1 };
    });
    return editedIndex(EMPTY, NOTHING, edits, { noted: UNKNOWN, folders });
  });
}
