/**
 * The files of a merge, as git merges them or as auto-resolve.ts resolves them, or each conflict:
 * file, kind and lines.
 */

import { git } from '../git/git.ts';
import { type ConflictedPath, type MergeTree, mergeTree } from '../git/merge-tree.ts';
import {
  type FileConflict,
  type FileConflictKind,
  type LineRange,
  MAX_CONFLICTS,
  MAX_RANGES,
  type SettledFile,
} from '../model/conflict.ts';
import type { Sha } from '../model/plan.ts';
import type { Candidate, Merge } from './candidate.ts';

export type AutoResolved =
  /** Git's result stands. */
  | { readonly kind: 'as-it-is' }
  | { readonly kind: 'settled'; readonly tree: Sha; readonly files: readonly SettledFile[] }
  /** A command that should have made these files failed. */
  | { readonly kind: 'failed'; readonly files: readonly string[]; readonly output: string };

export type AutoResolve = (
  merged: MergeTree,
  sides: Sides,
  signal: AbortSignal,
) => Promise<AutoResolved>;

export interface MergedTree {
  readonly kind: 'tree';
  readonly tree: Sha;
  readonly settled: readonly SettledFile[];
}

/** The tree of `work` merged with `onto`, or why there is none. */
export async function mergedTree(
  dir: string,
  merge: Merge,
  signal: AbortSignal,
): Promise<MergedTree | (Candidate & { kind: 'conflict' })> {
  const sides = { ours: merge.onto, theirs: merge.work };
  const merged = await mergeTree(dir, merge.onto, merge.work, signal);
  const settled = (await merge.autoResolve?.(merged, sides, signal)) ?? AS_IT_IS;
  if (settled.kind === 'settled')
    return { kind: 'tree', tree: settled.tree, settled: settled.files };
  if (settled.kind === 'failed') {
    const { files, output } = settled;
    const conflicts = files.map((path) => ({ path, kind: 'regenerate' }) as const);
    return { kind: 'conflict', files, conflicts, output };
  }
  if (merged.kind === 'clean') return { kind: 'tree', tree: merged.tree, settled: [] };
  const files = [...new Set(merged.files.map((path) => plainPath(path, sides)))];
  // A draft is compared, not read: it needs no lines.
  const isRead = merge.isDraft !== true;
  const conflicts = isRead ? await describeConflicts(dir, sides, merged, signal) : [];
  return { kind: 'conflict', files, conflicts };
}

const AS_IT_IS: AutoResolved = { kind: 'as-it-is' };

/** The sides of a merge: `ours` is what the work should land on, `theirs` is the work. */
export interface Sides {
  readonly ours: Sha;
  readonly theirs: Sha;
}

/** Describes the conflicts of a merge, as far as a person will read. */
async function describeConflicts(
  dir: string,
  sides: Sides,
  { tree, conflicts }: MergeTree & { kind: 'conflict' },
  signal: AbortSignal,
): Promise<readonly FileConflict[]> {
  const described: FileConflict[] = [];
  for (const conflict of conflicts.slice(0, MAX_CONFLICTS)) {
    const path = plainPath(conflict.path, sides);
    const kind = kindFor(conflict);
    const isText = kind === 'content' || kind === 'both-added';
    const lines = isText ? await linesOf(dir, { tree, ...conflict }, sides, signal) : [];
    described.push(lines.length === 0 ? { path, kind } : { path, kind, lines });
  }
  return described;
}

/** Where a file and a folder want one name, git calls the file `name~<commit>`. */
function plainPath(path: string, { ours, theirs }: Sides): string {
  for (const side of [ours, theirs]) {
    const at = path.lastIndexOf(`~${side}`);
    if (at > 0) return path.slice(0, at);
  }
  return path;
}

function kindFor({ kind }: ConflictedPath): FileConflictKind {
  if (kind === 'deleted-by-theirs') return 'deleted-here';
  return kind === 'deleted-by-ours' ? 'deleted-there' : kind;
}

async function linesOf(
  dir: string,
  { tree, path }: { readonly tree: Sha; readonly path: string },
  sides: Sides,
  signal: AbortSignal,
): Promise<readonly LineRange[]> {
  // A name that is no text cannot be asked for; where in it the conflict is then stays untold.
  const args = ['cat-file', 'blob', `${tree}:${path}`];
  const blob = await git(dir, args, signal, { okCodes: [0, 128] });
  return markedRanges(blob.stdout, sides).slice(0, MAX_RANGES);
}

/** The places between conflict markers, in lines of the work's own version of the file. */
function markedRanges(text: string, { ours, theirs }: Sides): readonly LineRange[] {
  const ranges: LineRange[] = [];
  let line = 0;
  let inside: 'neither' | 'ours' | 'theirs' = 'neither';
  let first = 0;
  for (const each of text.split('\n')) {
    if (inside === 'neither' && each.startsWith(`<<<<<<< ${ours}`)) inside = 'ours';
    else if (inside === 'ours' && /^={7}\r?$/.test(each)) {
      inside = 'theirs';
      first = line + 1;
    } else if (inside === 'theirs' && each.startsWith(`>>>>>>> ${theirs}`)) {
      inside = 'neither';
      ranges.push([first, Math.max(first, line)]);
    } else if (inside !== 'ours') line += 1;
  }
  return ranges;
}
