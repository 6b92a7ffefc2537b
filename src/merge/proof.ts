/**
 * proof: before anything is published, that nothing of what landed is missing.
 *
 *   P1. Merged work is in the history with every commit. One git process for all of it.
 *   P2. Rewritten work is not: there the landing is done again in memory, and must give the same
 *       files as the commit in the history that is said to be its landing.
 */

import { git } from '../git/git.ts';
import { treeOf } from '../git/refs.ts';
import type { Rewritten } from '../model/effect.ts';
import type { LandingSpec, Sha } from '../model/plan.ts';
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
  landed: { readonly works: readonly Rewritten[]; readonly strategy: LandingSpec['strategy'] },
  signal: AbortSignal,
): Promise<Sha | null> {
  const { works, strategy } = landed;
  const commits = works.map(({ commit }) => commit);
  const missing = await missingFrom(dir, tip, commits, signal);
  if (missing !== null) return missing;
  for (const { work, onto, commit } of works) {
    const merge = { work, onto, commit, message: 'Proof', strategy };
    if (!(await isResult(dir, merge, signal))) return work;
  }
  return null;
}

/** Whether a commit has the files that the work gives on that head. */
export async function isResult(
  dir: string,
  { commit, ...merge }: Merge & { readonly commit: Sha },
  signal: AbortSignal,
): Promise<boolean> {
  const candidate = await buildCandidate(dir, { ...merge, isDraft: true }, signal);
  return candidate.kind === 'built' && candidate.tree === (await treeOf(dir, commit, signal));
}
