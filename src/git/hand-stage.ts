/**
 * hand-stage: what a working tree holds, staged by us. Git is asked only for what it knows better.
 *
 *   H1. It is done only where git would stage the same, bit for bit: plain files and links, no
 *       attribute or setting that has a say in their content. Otherwise it says null, and nothing
 *       but objects was written: ask git.
 *   H2. In a small working tree every file is looked at (look-around.ts). In a large one git names
 *       those that were touched, and folders are looked at for new ones (look-at-folders.ts).
 *   H3. Which new files are ignored git says, where there is a rule.
 *   H4. What is noted of folders in the new index is always true.
 */

import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { assert } from '../base/assert.ts';
import { ignoredOf } from './diff.ts';
import type { FolderTimes } from './folder-times.ts';
import type { Sha } from './git.ts';
import { type Edit, foldersOf, IndexEdit, isEntry } from './index-edit.ts';
import { HEADER_BYTES } from './index-file.ts';
import { IndexTree, type Noted, type Trees } from './index-tree.ts';
import {
  type Found,
  filesBelow,
  isRule,
  LINK,
  lookAround,
  MOST_LOOKS,
  readNow,
} from './look-around.ts';
import { lookAtFolders, touchedFiles } from './look-at-folders.ts';
import { writeLoose } from './loose-object.ts';
import { comparesPlainly } from './quick-checkout.ts';
import { isThereFromStart, settingsIn, userFile } from './settings.ts';
import { coneOf } from './sparse.ts';
import { isRefused } from './tree-changes.ts';

export interface ToStage {
  readonly commonDir: string;
  readonly dir: string;
  /** The index of the working tree, and where the new one is written. */
  readonly own: string;
  readonly aside: string;
  /** What the index must be known to hold. */
  readonly tree: Sha;
  /** Its folders when it held exactly that and nothing else; null where nobody knows. */
  readonly times: FolderTimes | null;
}

/** What was staged. */
export interface ByHand {
  readonly tree: Sha;
  /** Every path in which it differs, sorted as an index is. */
  readonly files: readonly string[];
  /** Times were compared to the microsecond; git compares seconds. */
  readonly isExact: boolean;
}

/** What is written within one turn of the loop. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Writes the new index; null where that is for git to do. */
export async function stageByHand(what: ToStage, signal: AbortSignal): Promise<ByHand | null> {
  const { commonDir, dir, own, times } = what;
  if (!(await comparesPlainly(commonDir, signal)) || coneOf(dir) !== null) return null;
  const isSmall = countIn(own) <= MOST_LOOKS;
  if (!isSmall && times === null) return null;
  const hasOwnRules = await hasRules(commonDir, signal);
  const touched = isSmall ? [] : await touchedFiles(dir, signal);
  const index = touched === null ? null : readIndex(what);
  const found = index === null ? null : look(what, index, touched);
  if (index === null || found === null) return null;
  const isAnyNew = found.new.length + found.folders.length > 0;
  if (!isAnyNew) return stage(what, index, found);
  const below = found.hasRules || hasOwnRules ? null : filesBelow(dir, found.folders);
  if (below !== null && !below.some(isRule)) {
    return stage(what, index, { ...found, new: [...found.new, ...below] });
  }
  const taken = await unignored(dir, found, signal);
  const again = taken === null ? null : readIndex(what); // What was read before is gone by now.
  return taken === null || again === null ? null : stage(what, again, { ...found, new: taken });
}

/** What is there; null also where it cannot be looked at: git will say what is wrong. */
function look(
  { dir, own, times }: ToStage,
  index: IndexTree,
  touched: readonly string[] | null,
): Found | null {
  try {
    if (index.starts.length <= MOST_LOOKS) {
      return lookAround({ dir, index, writtenMs: statSync(own).mtimeMs });
    }
    return times && touched && lookAtFolders({ dir, index, times }, touched);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}

/** How many files an index has, 0 where it cannot be read. */
function countIn(path: string): number {
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const fd = openSync(path, 'r');
    try {
      readSync(fd, header);
    } finally {
      closeSync(fd);
    }
  } catch {
    return 0;
  }
  return header.readUInt32BE(8);
}

/** The index for use at once; null where it is not what it is to be. */
function readIndex({ own, tree }: ToStage): IndexTree | null {
  const index = IndexTree.readForNow(own);
  return index?.version === 2 && index.known === tree ? index : null;
}

/** Notes everything anew that was found; at once, because the memory is used again. */
function stage(what: ToStage, index: IndexTree, found: Found): ByHand | null {
  const { commonDir, dir, aside } = what;
  const written = editsFor({ commonDir, dir }, found);
  if (written === null) return null;
  for (const { name, more } of written) {
    assert((index.startOf(name) === null) === (more === 1), `${name} is new or in the index`);
  }
  const isDifferent = ({ name, file, more }: Edit) => more !== 0 || !isSame(index, name, file);
  const names = written.filter(isDifferent).map(({ name }) => name);
  const changed: Trees = new Map();
  for (const name of names) for (const folder of foldersOf(name)) changed.set(folder, null);
  const noted = index.noted!;
  const edit = new IndexEdit(index.bytes, index, written);
  const tree = names.length === 0 ? what.tree : treeOfEdit(edit, { commonDir, noted, changed });
  writeFileSync(aside, edit.close({ noted, folders: changed }));
  const files = names.sort().map((name) => Buffer.from(name, 'latin1').toString());
  return { tree, files, isExact: index.starts.length <= MOST_LOOKS };
}

interface Changed {
  readonly commonDir: string;
  readonly noted: Noted;
  readonly changed: Trees;
}

function treeOfEdit(edit: IndexEdit, { commonDir, noted, changed }: Changed): Sha {
  const after = IndexTree.of(edit.bytes);
  assert(after !== null, 'an edited index can be read');
  return after.writeTree(commonDir, noted, changed);
}

/** The files as they are now, each content an object; null where one cannot be read as a whole. */
function editsFor(
  { commonDir, dir }: Pick<ToStage, 'commonDir' | 'dir'>,
  found: Found,
): readonly Edit[] | null {
  const edits: Edit[] = found.gone.map((name) => ({ name, file: null, more: -1 }));
  let bytes = 0;
  for (const [names, more] of [[found.changed, 0] as const, [found.new, 1] as const]) {
    for (const name of names) {
      const now = readNow({ dir, name });
      bytes += now?.content.length ?? 0;
      if (now === null || bytes > MOST_BYTES) return null;
      const { mode, stat, content } = now;
      if (mode === LINK && isRefused(basename(name))) return null; // `.gitmodules` was a file.
      const sha = writeLoose(commonDir, 'blob', content);
      edits.push({ name, file: { mode, sha, stat }, more });
    }
  }
  return edits;
}

/** Whether a file has the content and the mode that the index notes. */
function isSame(index: IndexTree, name: string, file: Edit['file']): boolean {
  const start = index.startOf(name);
  return file !== null && start !== null && isEntry(index.bytes, start, file);
}

/** Whether something outside of the working tree says what git ignores. */
async function hasRules(commonDir: string, signal: AbortSignal): Promise<boolean> {
  if ((await settingsIn(commonDir, signal)).has('core.excludesfile')) return true;
  if (isThereFromStart(userFile('ignore'))) return true;
  const shared = join(commonDir, 'info', 'exclude');
  if (!existsSync(shared)) return false;
  const lines = readFileSync(shared, 'utf8').split('\n');
  return lines.some((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** The new files that git does not ignore, also in new folders; null where that is git's to say. */
async function unignored(
  dir: string,
  found: Found,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const taken = await notIgnored(dir, [...found.new, ...found.folders], signal);
  if (taken === null) return null;
  const folders = found.folders.filter((folder) => taken.has(folder));
  const below = filesBelow(dir, folders);
  const more = below === null ? null : await notIgnored(dir, below, signal);
  return more === null ? null : [...found.new.filter((name) => taken.has(name)), ...more];
}

/** Those that git does not ignore; null where it cannot be asked. */
async function notIgnored(
  dir: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  const texts = names.map((name) => Buffer.from(name, 'latin1').toString());
  if (texts.some((text) => text.includes('\ufffd'))) return null; // That is no text.
  const ignored = await ignoredOf(dir, texts, signal, { known: false });
  return new Set(names.filter((_, nth) => !ignored.has(texts[nth]!)));
}
