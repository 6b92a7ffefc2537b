/**
 * hand-stage: what a working tree holds, staged by no process or by one that only looks.
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
import { join } from 'node:path';
import { git, type Sha, splitNul } from './git.ts';
import { type Edit, foldersOf, IndexEdit, isEntry } from './index-edit.ts';
import { HEADER_BYTES } from './index-file.ts';
import { IndexTree, type Trees } from './index-tree.ts';
import { type Found, filesBelow, isRule, lookAround, MOST_LOOKS, readNow } from './look-around.ts';
import { lookAtFolders, touchedFiles } from './look-at-folders.ts';
import { writeLoose } from './loose-object.ts';
import { comparesPlainly } from './quick-checkout.ts';
import { isThereFromStart, settingsIn, userFile } from './settings.ts';
import { coneOf } from './sparse.ts';

export interface ToStage {
  readonly commonDir: string;
  readonly dir: string;
  /** The index of the working tree, and where the new one is written. */
  readonly own: string;
  readonly aside: string;
  /** What the index must be known to hold. */
  readonly tree: Sha;
  /** When the working tree was known to hold exactly that, and nothing else; null for never. */
  readonly since: number | null;
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
  const { commonDir, dir, own } = what;
  if (!(await comparesPlainly(commonDir, signal)) || coneOf(dir) !== null) return null;
  const isSmall = countIn(own) <= MOST_LOOKS;
  if (!isSmall && what.since === null) return null;
  const hasOwnRules = await hasRules(commonDir, signal);
  const touched = isSmall ? [] : await touchedFiles(dir, signal);
  const index = touched === null ? null : readIndex(what);
  if (touched === null || index === null) return null;
  const found = isSmall
    ? lookAround({ dir, index, writtenMs: statSync(own).mtimeMs })
    : lookAtFolders({ dir, index, since: what.since! }, touched);
  if (found === null) return null;
  const isAnyNew = found.new.length + found.folders.length > 0;
  const mayIgnore = isAnyNew && (found.hasRules || hasOwnRules);
  const news = mayIgnore ? null : newFiles(dir, found);
  if (news !== null) return stage(what, index, { ...found, new: news }, isSmall);
  const taken = await unignored(dir, found, signal);
  const again = taken === null ? null : readIndex(what); // What was read before is gone by now.
  if (taken === null || again === null) return null;
  return stage(what, again, { ...found, new: taken }, isSmall);
}

/** All new files, also those in new folders; null where a rule among them has a say. */
function newFiles(dir: string, found: Found): readonly string[] | null {
  const below = filesBelow(dir, found.folders);
  return below === null || below.some(isRule) ? null : [...found.new, ...below];
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
function stage(what: ToStage, index: IndexTree, found: Found, isExact: boolean): ByHand | null {
  const { commonDir, dir, aside } = what;
  const written = editsFor({ commonDir, dir }, found);
  if (written === null) return null;
  const isDifferent = ({ name, file, more: count }: Edit) =>
    count !== 0 || !isSame(index, name, file);
  const names = written.filter(isDifferent).map(({ name }) => name);
  const changed: Trees = new Map();
  for (const name of names) for (const folder of foldersOf(name)) changed.set(folder, null);
  const noted = index.noted!;
  const edit = new IndexEdit(index.bytes, index, written);
  const after = names.length === 0 ? null : IndexTree.of(edit.bytes);
  const tree = after === null ? what.tree : after.writeTree(commonDir, noted, changed);
  writeFileSync(aside, edit.close({ noted, folders: changed }));
  const files = names.sort().map((name) => Buffer.from(name, 'latin1').toString());
  return { tree, files, isExact };
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
  const folders = found.folders.filter((folder) => taken?.has(folder));
  const below = filesBelow(dir, folders);
  const takenBelow = below === null ? null : await notIgnored(dir, below, signal);
  if (taken === null || takenBelow === null) return null;
  return [...found.new.filter((name) => taken.has(name)), ...takenBelow];
}

/** Those that no rule says anything of, although one may be there. */
async function notIgnored(
  dir: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  if (names.length === 0) return new Set();
  const texts = names.map((name) => Buffer.from(name, 'latin1').toString());
  if (texts.some((text) => text.includes('\ufffd'))) return null; // That is no text.
  const args = ['check-ignore', '--no-index', '-z', '--stdin'];
  const options = { stdin: `${texts.join('\0')}\0`, okCodes: [0, 1] }; // 1: none of them.
  const ignored = new Set(splitNul((await git(dir, args, signal, options)).stdout));
  return new Set(names.filter((_, nth) => !ignored.has(texts[nth]!)));
}
