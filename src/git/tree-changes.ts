/**
 * In which files two trees differ, read without a process where the trees are files.
 *
 *   D1. An answer is given only where all of them are plain files with ordinary names, not too
 *       many, and no attributes of the commits have a say in how they are written.
 */

import type { Sha } from './git.ts';
import { FOLDER, readTree, type Tree, type TreeEntry } from './tree.ts';

const ATTRIBUTES = '.gitattributes';
const MOST_CHANGES = 200;
export const PLAIN_MODES: readonly string[] = ['100644', '100755'];

/**
 * Names that git may refuse to write, or that mean something to it. `GITMOD~1` and `gi7eba~1` are
 * short for `.gitmodules` on Windows, and nobody has to know all of these.
 */
const REFUSED = /^(?:\.{1,2}|\.git(?!ignore$|keep$).*|.*(?:~\d|[\\:]).*)$/is;

/** Whether git may refuse to write a file or folder of that name. */
export function isRefused(name: string): boolean {
  return REFUSED.test(name);
}

/** A file that differs. */
export interface Change {
  readonly name: string;
  readonly old: TreeEntry | undefined;
  readonly new: TreeEntry | undefined;
}

/** All that differs between two trees. */
export interface Changes {
  readonly files: readonly Change[];
  /** The new trees of folders that differ; '' is the whole. */
  readonly folders: ReadonlyMap<string, Sha>;
}

/** In which files two trees differ; null where one of them is not a plain file. */
export async function changesBetween(
  commonDir: string,
  from: Sha,
  to: Sha,
  signal: AbortSignal,
): Promise<Changes | null> {
  const files: Change[] = [];
  const folders = new Map<string, Sha>();
  const read = (sha: Sha | null): Promise<Tree> | Tree =>
    sha === null ? NOTHING : readTree(commonDir, sha, signal);
  const waiting = from === to ? [] : [{ path: '', old: from as Sha | null, now: to as Sha | null }];
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    const [older, newer] = [await read(each.old), await read(each.now)];
    if (older.has(ATTRIBUTES) || newer.has(ATTRIBUTES)) return null;
    if (each.now !== null) folders.set(each.path, each.now);
    for (const [name, old, now] of differences(older, newer)) {
      const path = each.path === '' ? name : `${each.path}/${name}`;
      const modes = [old, now].flatMap((entry) => (entry === undefined ? [] : [entry.mode]));
      const arePlain = modes.every((mode) => PLAIN_MODES.includes(mode));
      const areFolders = modes.every((mode) => mode === FOLDER);
      if (REFUSED.test(name) || !(arePlain || areFolders)) return null;
      if (arePlain) files.push({ name: path, old, new: now });
      else waiting.push({ path, old: old?.sha ?? null, now: now?.sha ?? null });
    }
    if (files.length > MOST_CHANGES) return null;
  }
  return { files, folders };
}

const NOTHING: Tree = new Map();

function* differences(
  older: Tree,
  newer: Tree,
): Iterable<readonly [string, TreeEntry | undefined, TreeEntry | undefined]> {
  for (const [name, now] of newer) {
    const old = older.get(name);
    if (old?.sha !== now.sha || old.mode !== now.mode) yield [name, old, now];
  }
  for (const [name, old] of older) if (!newer.has(name)) yield [name, old, undefined];
}
