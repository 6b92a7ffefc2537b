/**
 * proof: before anything is published, that nothing of what landed is missing.
 *
 *   P1. Merged work is in the history with every commit. One git process for all of it.
 *   P2. Rewritten work is not: there the landing is done again in memory, and must give the same
 *       files as the commit in the history that is said to be its landing. Only what does not
 *       merge by itself may differ: a resolution or a command has made it (settle.ts).
 */

import { filesBetween } from '../git/diff.ts';
import { git } from '../git/git.ts';
import { mergeTree } from '../git/merge-tree.ts';
import { treeOf } from '../git/refs.ts';
import type { Rewritten } from '../model/effect.ts';
import type { LandingSpec, Plan, Sha } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { buildCandidate, type Merge } from './candidate.ts';

/** The first commit that belongs to one of the works and is not reachable from `tip`, or null. */
export async function missingFrom(
  dir: string,
  tip: Sha,
  works: readonly Sha[],
  signal: AbortSignal,
): Promise<Sha | null> {
  if (works.length === 0) return null;
  const stdin = `${[...works, `^${tip}`].join('\n')}\n`;
  const args = ['rev-list', '--max-count=1', '--stdin'];
  const { stdout } = await git(dir, args, signal, { stdin });
  return stdout.trim() || null;
}

/** The first landing that is not in the history of `tip`, or work that is not in its landing. */
export async function lostFrom(
  dir: string,
  tip: Sha,
  landed: {
    readonly works: readonly Rewritten[];
    readonly strategy: LandingSpec['strategy'];
    readonly generated: readonly string[];
  },
  signal: AbortSignal,
): Promise<Sha | null> {
  const { works, strategy, generated } = landed;
  const commits = works.map(({ commit }) => commit);
  const missing = await missingFrom(dir, tip, commits, signal);
  if (missing !== null) return missing;
  for (const { work, onto, commit } of works) {
    const merge = { work, onto, commit, message: 'Proof', strategy, generated };
    if (!(await isResult(dir, merge, signal))) return work;
  }
  return null;
}

/** Whether a commit has the files that the work gives on that head. */
export async function isResult(
  dir: string,
  {
    commit,
    generated,
    settle: _,
    ...merge
  }: Merge & { readonly commit: Sha; readonly generated: readonly string[] },
  signal: AbortSignal,
): Promise<boolean> {
  const tree = await treeOf(dir, commit, signal);
  const candidate = await buildCandidate(dir, { ...merge, isDraft: true }, signal);
  if (candidate.kind === 'built' && candidate.tree === tree) return true;
  const merged = await mergeTree(dir, merge.onto, merge.work, signal);
  const open = new Set(merged.kind === 'conflict' ? merged.files : []);
  const other = await filesBetween(dir, merged.tree, tree, signal);
  return other.every((path) => open.has(path) || inScope(path, generated));
}

/** Files that are made anew by a command instead of merged. */
export function generatedScope({ landing }: Plan): readonly string[] {
  return (landing.regenerate ?? []).flatMap(({ paths }) => paths);
}
