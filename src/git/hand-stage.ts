/**
 * hand-stage: what a small working tree holds, staged without a process.
 *
 *   H1. It is done only where git would stage the same, bit for bit: plain files and links, no
 *       attribute or setting that has a say in their content, no rule that ignores something new.
 *       Otherwise it says null, and nothing but objects was written: ask git.
 *   H2. A file is taken for unchanged only if nothing that the index notes of it differs, its times
 *       to less than a microsecond; and if it was changed in the same tick of the clock as the
 *       index was written, its content is compared.
 *   H3. What changed loses its note of the tree in all folders above it, as with git: what is noted
 *       there is always true.
 */

import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { bytePath } from './byte-path.ts';
import type { Sha } from './git.ts';
import { type Edit, editedIndex, foldersOf, isAsNoted, isEntry, nameAt } from './index-edit.ts';
import { MODE_AT } from './index-file.ts';
import type { IndexTree } from './index-tree.ts';
import { blobOf, writeLoose } from './loose-object.ts';
import { comparesPlainly } from './quick-checkout.ts';
import { isThereFromStart, settingsIn, userFile } from './settings.ts';
import { coneOf } from './sparse.ts';
import { isRefused } from './tree-changes.ts';

export interface ToStage {
  readonly commonDir: string;
  readonly dir: string;
  readonly index: IndexTree;
  /** When the index was written. */
  readonly writtenMs: number;
}

/** Git looks at more of them than that in less time. */
const MOST_LOOKS = 300;
const MOST_BYTES = 1024 * 1024;
const FILE = '100644';
const PROGRAM = '100755';
const LINK = '120000';
const KINDS: ReadonlySet<number> = new Set(
  [FILE, PROGRAM, LINK].map((mode) => Number.parseInt(mode, 8)),
);
const OWNER_RUNS = 0o100n;

/** The contents of the new index; null where that is for git to do. */
export async function stageByHand(what: ToStage, signal: AbortSignal): Promise<Buffer | null> {
  const { commonDir, dir, index } = what;
  if (index.starts.length > MOST_LOOKS || index.version !== 2 || index.known === null) return null;
  if (!(await comparesPlainly(commonDir, signal)) || coneOf(dir) !== null) return null;
  const found = lookAround(what);
  if (found === null) return null;
  if (found.isNew && (found.hasRules || (await hasRules(commonDir, signal)))) return null;
  const edits = found.edits.map((edit) => edit());
  if (edits.includes(null)) return null;
  const known = edits.filter((edit) => edit !== null);
  const changed = known.filter(({ name, file, more }) => more !== 0 || !isSame(index, name, file));
  const folders = new Map<string, Sha | null>();
  for (const { name } of changed) for (const folder of foldersOf(name)) folders.set(folder, null);
  return editedIndex(index.bytes, index, known, { noted: index.noted!, folders });
}

interface Found {
  /** What is to be noted anew; its content becomes an object when it is asked for. */
  readonly edits: readonly (() => Edit | null)[];
  /** Whether there is a file that the index does not know. */
  readonly isNew: boolean;
  /** Whether a file in the working tree says what git ignores. */
  readonly hasRules: boolean;
}

/** Compares every file with the index; null where there is something that is not plain. */
function lookAround({ commonDir, dir, index, writtenMs }: ToStage): Found | null {
  if (!index.starts.every((start) => KINDS.has(index.bytes.readUInt32BE(start + MODE_AT)))) {
    return null; // To git a submodule that is not checked out is an empty folder.
  }
  const missing = new Map([...index.starts].map((start) => [nameAt(index.bytes, start), start]));
  const edits: (() => Edit | null)[] = [];
  let [isNew, hasRules, looks] = [false, false, 0];
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = namesIn(dir, folder);
    if (names === null) return null;
    for (const each of names) {
      if (folder === '' && each === '.git') continue;
      looks += 1;
      if (looks > 2 * MOST_LOOKS || isRefused(each) || each === '.gitattributes') return null;
      if (each === '.gitignore') hasRules = true;
      const name = folder === '' ? each : `${folder}/${each}`;
      const stat = lstatSync(bytePath(dir, name), { throwIfNoEntry: false });
      if (stat === undefined) return null; // Somebody is still at work here.
      if (stat.isDirectory()) {
        waiting.push(name);
        continue;
      }
      if (!stat.isFile() && !stat.isSymbolicLink()) return null;
      const start = missing.get(name);
      missing.delete(name);
      if (start === undefined) isNew = true;
      else if (isAsNoted(index.bytes, start, stat)) {
        if (stat.mtimeMs < writtenMs || isNotedContent(index.bytes, start, { dir, name })) continue;
      }
      edits.push(() => editOf(commonDir, { dir, name, isNew: start === undefined }));
    }
  }
  for (const name of missing.keys()) edits.push(() => ({ name, file: null, more: -1 }));
  return { edits, isNew, hasRules };
}

function namesIn(dir: string, folder: string): readonly string[] | null {
  try {
    return readdirSync(bytePath(dir, folder), 'latin1');
  } catch {
    return null;
  }
}

interface FileAt {
  readonly dir: string;
  readonly name: string;
}

/** A file as it is now, its content as an object; null where it cannot be read as a whole. */
function editOf(
  commonDir: string,
  { dir, name, isNew }: FileAt & { readonly isNew: boolean },
): Edit | null {
  const found = readNow({ dir, name });
  if (found === null) return null;
  const { mode, stat, content } = found;
  const sha = writeLoose(commonDir, 'blob', content);
  return { name, file: { mode, sha, stat }, more: isNew ? 1 : 0 };
}

/** Whether a file holds what the index says, however its times are. */
function isNotedContent(index: Buffer, start: number, file: FileAt): boolean {
  const found = readNow(file);
  return found !== null && isEntry(index, start, { mode: found.mode, sha: blobOf(found.content) });
}

function readNow({ dir, name }: FileAt) {
  const path = bytePath(dir, name);
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || stat.size > MOST_BYTES) return null;
  const isLink = stat.isSymbolicLink();
  try {
    const content = isLink ? readlinkSync(path, 'buffer') : readFileSync(path);
    if (BigInt(content.length) !== stat.size) return null; // Somebody is still writing.
    const mode = isLink ? LINK : (stat.mode & OWNER_RUNS) === 0n ? FILE : PROGRAM;
    return { mode, stat, content };
  } catch {
    return null;
  }
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
