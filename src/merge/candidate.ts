/**
 * Finished work combined with a head, in memory. The tree of a candidate is exactly what would be
 * on the branch if it landed. It is an unreferenced commit: dropping it costs nothing.
 */

import { type Committed, commitTree, draftCommit } from '../git/commit.ts';
import { otherAuthors } from '../git/history.ts';
import { treeOf } from '../git/refs.ts';
import type { FileConflict, SettledFile } from '../model/conflict.ts';
import type { LandingSpec, Sha } from '../model/plan.ts';
import { trailer, withTrailers } from '../model/trailers.ts';
import { type AutoResolve, mergedTree } from './merged-tree.ts';
import { replay } from './rebase.ts';

export interface Merge {
  readonly work: Sha;
  readonly onto: Sha;
  readonly message: string;
  /** Lines for the end of the message; where there are any, a squashed commit names all authors. */
  readonly trailers?: readonly string[];
  readonly strategy: LandingSpec['strategy'];
  /** Only its files matter: it is not signed and cannot land. */
  readonly isDraft?: boolean;
  /** Resolves files that do not merge by themselves. */
  readonly autoResolve?: AutoResolve;
}

export type Candidate =
  | {
      readonly kind: 'built';
      readonly commit: Sha;
      readonly tree: Sha;
      /** Files that did not merge by themselves. */
      readonly settled: readonly SettledFile[];
    }
  | {
      readonly kind: 'conflict';
      readonly files: readonly string[];
      readonly conflicts: readonly FileConflict[];
      /** The output of a command that failed to regenerate a file. */
      readonly output?: string;
    }
  /** The commit itself could not be made: no identity, or no signature. */
  | { readonly kind: 'refused'; readonly why: string };

/** Says in a squashed commit which work it holds, since no parent does. */
export function workTrailer(commit: Sha): string {
  return `Landfast-Work: ${commit}`;
}

export async function buildCandidate(
  dir: string,
  merge: Merge,
  signal: AbortSignal,
): Promise<Candidate> {
  const { work, onto, strategy } = merge;
  const make = merge.isDraft === true ? draft : commitTree;
  if (strategy === 'rebase') return replay({ dir, make }, merge, signal);
  const merged = await mergedTree(dir, merge, signal);
  if (merged.kind === 'conflict') return merged;
  const { tree, settled } = merged;
  if (strategy === 'squash' && tree === (await treeOf(dir, onto, signal))) {
    return { kind: 'built', commit: onto, tree, settled }; // Everything already exists.
  }
  const parents = strategy === 'squash' ? [onto] : [onto, work];
  const message = withTrailers(merge.message, await trailersOf(dir, merge, signal));
  const made = await make(dir, { tree, parents, message }, signal);
  return made.kind === 'refused' ? made : { kind: 'built', commit: made.commit, tree, settled };
}

async function trailersOf(dir: string, merge: Merge, signal: AbortSignal) {
  const { work, onto, strategy, trailers = [], isDraft } = merge;
  if (strategy !== 'squash' || isDraft === true) return trailers;
  const range = { from: onto, to: work };
  const authors = trailers.length === 0 ? [] : await otherAuthors(dir, range, signal);
  const together = authors.map(({ name, email }) =>
    trailer('Co-authored-by', `${name} <${email}>`),
  );
  return [...together, ...trailers, workTrailer(work)];
}

async function draft(...[dir, data, signal]: Parameters<typeof commitTree>): Promise<Committed> {
  return { kind: 'committed', commit: await draftCommit(dir, data, signal) };
}
