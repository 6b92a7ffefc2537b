/**
 * The files of a merge: as git merges them, and what is settled in another way where it cannot, or
 * should not.
 */

import { type MergeTree, mergeTree } from '../git/merge-tree.ts';
import type { SettledFile } from '../model/conflict.ts';
import type { Sha } from '../model/plan.ts';
import type { Candidate, Merge } from './candidate.ts';
import { conflicting, type Sides } from './conflicts.ts';

/** What becomes of a merge that git has done, or could not do. */
export type Settled =
  /** Nothing is known better. */
  | { readonly kind: 'as-it-is' }
  | { readonly kind: 'settled'; readonly tree: Sha; readonly files: readonly SettledFile[] }
  /** A command that should have made these files failed. */
  | { readonly kind: 'failed'; readonly files: readonly string[]; readonly output: string };

/** Settles what can be settled without asking anybody. */
export type Settle = (merged: MergeTree, sides: Sides, signal: AbortSignal) => Promise<Settled>;

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
  const settled = (await merge.settle?.(merged, sides, signal)) ?? AS_IT_IS;
  if (settled.kind === 'settled')
    return { kind: 'tree', tree: settled.tree, settled: settled.files };
  if (settled.kind === 'failed') {
    const { files, output } = settled;
    const conflicts = files.map((path) => ({ path, kind: 'regenerate' }) as const);
    return { kind: 'conflict', files, conflicts, output };
  }
  if (merged.kind === 'clean') return { kind: 'tree', tree: merged.tree, settled: [] };
  return conflicting(dir, merge, merged, signal);
}

const AS_IT_IS: Settled = { kind: 'as-it-is' };
