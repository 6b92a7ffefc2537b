/**
 * quick-merge: the merge of two commits whose changes do not meet, without a process.
 *
 *   M1. It answers only where git's own merge surely says the same, bit for bit: every name was
 *       changed by one side alone, or by both alike. Anything else is null: ask merge-tree.ts.
 *   M2. What both sides have deleted is left to git: one of them may have been moved twice.
 *   M3. Repositories that write objects in another way are left to git too.
 *   M4. `base` is what git would merge from: the one commit where the two part. The work is a
 *       straight line from it, so that this is true if `onto` holds `base` and no commit of the
 *       line. Another task may have taken some of them over, and landed them: whatever `onto` has
 *       beyond `base` is therefore read, commit by commit. What came before `base` cannot hold the
 *       line, which came after it, and need not be read. Where that is not known it is left to git.
 *
 *         older ── base ── head ── head ── onto      each head is what landed on the one before,
 *            \        \      /       /                and the work that did
 *             \        w ── w      /
 *              w ── w ── w ── w ──
 */

import type { Sha } from './git.ts';
import { headerOf, writesPlainly } from './loose-object.ts';
import { treeOf } from './refs.ts';
import { FOLDER, readTree, type Tree, type TreeEntry, writeTree } from './tree.ts';

/** Work of more commits than this is merged by git. */
const MOST_COMMITS = 50;
/** How much of the history is read: their headers are kept in memory (loose-object.ts). */
const MOST_BETWEEN = 500;
const MOST_OLDER = 200;

/** The tree of `work`, which grew from `base`, merged onto `onto`. */
export async function quickMerge(
  commonDir: string,
  { base, onto, work }: { readonly base: Sha; readonly onto: Sha; readonly work: Sha },
  signal: AbortSignal,
): Promise<Sha | null> {
  if (!(await writesPlainly(commonDir, signal))) return null;
  const line = lineFrom(commonDir, work, base);
  if (line === null || !isParting(commonDir, { base, onto, line })) return null;
  const from = await treeOf(commonDir, base, signal);
  const ours = await treeOf(commonDir, onto, signal);
  const theirs = await treeOf(commonDir, work, signal);
  return mergeFolders(commonDir, { from, ours, theirs }, signal);
}

/** The commits of the work where they are a straight line from its base. */
function lineFrom(commonDir: string, work: Sha, base: Sha): ReadonlySet<Sha> | null {
  const line = new Set<Sha>();
  let commit = work;
  while (commit !== base) {
    const parents = headerOf(commonDir, commit)?.parents ?? [];
    if (parents.length !== 1 || line.size >= MOST_COMMITS) return null;
    line.add(commit);
    commit = parents[0]!;
  }
  return line;
}

/** Whether `onto` is known to hold the base and nothing of the line (M4). */
function isParting(
  commonDir: string,
  { base, onto, line }: { readonly base: Sha; readonly onto: Sha; readonly line: ReadonlySet<Sha> },
): boolean {
  if (onto === base) return true;
  const older = headsBefore(commonDir, base);
  const seen = new Set([onto]);
  // A set goes on to what is added to it meanwhile.
  for (const commit of seen) {
    if (commit === base || older.has(commit)) continue;
    const header = headerOf(commonDir, commit);
    if (header === null || line.has(commit) || seen.size > MOST_BETWEEN) return false;
    for (const parent of header.parents) seen.add(parent);
  }
  return seen.has(base);
}

/** The heads that a base came after, as far as they are known: others began there. */
function headsBefore(commonDir: string, base: Sha): ReadonlySet<Sha> {
  const heads = new Set<Sha>();
  let head: Sha | undefined = base;
  while (head !== undefined && heads.size < MOST_OLDER) {
    head = headerOf(commonDir, head)?.parents[0];
    if (head !== undefined) heads.add(head);
  }
  return heads;
}

interface Sides<T> {
  readonly from: T;
  readonly ours: T;
  readonly theirs: T;
}

async function mergeFolders(
  commonDir: string,
  { from, ours, theirs }: Sides<Sha>,
  signal: AbortSignal,
): Promise<Sha | null> {
  if (ours === from) return theirs;
  if (theirs === from) return ours;
  if (ours === theirs) return null; // What is gone from both may have been moved by both.
  const read = (sha: Sha): Promise<Tree> => readTree(commonDir, sha, signal);
  const sides = { from: await read(from), ours: await read(ours), theirs: await read(theirs) };
  const merged = new Map(sides.ours);
  for (const name of changedNames(sides.from, sides.theirs)) {
    const entry = await mergeEntry(
      commonDir,
      { from: sides.from.get(name), ours: sides.ours.get(name), theirs: sides.theirs.get(name) },
      signal,
    );
    if (entry === null) return null;
    if (entry === 'gone') merged.delete(name);
    else merged.set(name, entry);
  }
  // Git keeps no empty folder; which one disappears then is its business.
  return merged.size === 0 ? null : writeTree(commonDir, merged);
}

/** What is the same in both is as the other side has it: nothing is to be done. */
function changedNames(from: Tree, theirs: Tree): readonly string[] {
  const names: string[] = [];
  for (const [name, entry] of theirs) if (!isSame(entry, from.get(name))) names.push(name);
  for (const name of from.keys()) if (!theirs.has(name)) names.push(name);
  return names;
}

async function mergeEntry(
  commonDir: string,
  { from, ours, theirs }: Sides<TreeEntry | undefined>,
  signal: AbortSignal,
): Promise<TreeEntry | 'gone' | null> {
  if (isSame(ours, from)) return theirs ?? 'gone';
  if (ours === undefined || theirs === undefined) return null; // Deleted by both, or by one.
  if (ours.mode !== FOLDER || theirs.mode !== FOLDER) return isSame(ours, theirs) ? ours : null;
  if (from !== undefined && from.mode !== FOLDER) return null;
  if (from === undefined) return null; // Made by both: git looks for what was moved there.
  const shas = { from: from.sha, ours: ours.sha, theirs: theirs.sha };
  const sha = await mergeFolders(commonDir, shas, signal);
  return sha === null ? null : { mode: FOLDER, sha };
}

function isSame(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a === b || (a?.mode === b?.mode && a?.sha === b?.sha);
}
