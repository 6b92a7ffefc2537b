/**
 * A task's commits replayed on another head, one by one, in memory.
 *
 *        P ── C                  H' has the files of H and the parent of C, so that a merge of the
 *         \                      two has P as its base: C's changes, applied to H.
 *          H' (files of H)
 *
 * Author, date and message of each commit are preserved; a commit that no longer changes anything
 * is dropped; one that is on the head already is unchanged. Work that contains a merge, or whose
 * commits apply only as a whole, becomes one commit: nothing conflicts that would not conflict in a
 * merge.
 */

import { type commitTree, draftCommit, readCommit } from '../git/commit.ts';
import { commitsAfter, type Step } from '../git/history.ts';
import { mergeTree } from '../git/merge-tree.ts';
import { treeOf } from '../git/refs.ts';
import type { Sha } from '../model/plan.ts';
import { withTrailers } from '../model/trailers.ts';
import type { Candidate, Merge } from './candidate.ts';
import { mergedTree } from './merged-tree.ts';

export interface Repo {
  readonly dir: string;
  readonly make: typeof commitTree;
}

interface Tip {
  readonly commit: Sha;
  readonly tree: Sha;
}

/** Builds the candidate of `work` on `onto` as a line of commits. */
export async function replay(repo: Repo, merge: Merge, signal: AbortSignal): Promise<Candidate> {
  const { dir } = repo;
  const { work, onto } = merge;
  const head: Tip = { commit: onto, tree: await treeOf(dir, onto, signal) };
  const steps = await commitsAfter(dir, { from: onto, to: work }, signal);
  const isLine = steps.every(({ parents }) => parents.length === 1);
  const merged = await mergedTree(dir, merge, signal);
  // Conflicts are not resolved one by one: work that needs it becomes one commit.
  const isPlain = merged.kind === 'conflict' || merged.settled.length === 0;
  const each = isLine && isPlain ? await replayEach(repo, head, steps, signal) : null;
  return each ?? flatten(repo, head, { ...merge, merged }, signal);
}

/** Replays each commit; null where one does not apply. */
async function replayEach(
  repo: Repo,
  head: Tip,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<Candidate | null> {
  let tip = head;
  for (const step of steps) {
    const next = await replayOne(repo, tip, step, signal);
    if (next === null || 'kind' in next) return next;
    tip = next;
  }
  return { kind: 'built', ...tip, settled: [] };
}

async function replayOne(
  { dir, make }: Repo,
  tip: Tip,
  { commit, parents }: Step,
  signal: AbortSignal,
): Promise<Tip | (Candidate & { kind: 'refused' }) | null> {
  const { tree, author, message } = await readCommit(dir, commit, signal);
  if (parents[0] === tip.commit) return { commit, tree };
  const moved = await draftCommit(dir, { tree: tip.tree, parents }, signal);
  const merged = await mergeTree(dir, moved, commit, signal);
  if (merged.kind === 'conflict') return null;
  if (merged.tree === tip.tree) return tip;
  const made = { tree: merged.tree, parents: [tip.commit], message, author };
  const answer = await make(dir, made, signal);
  return answer.kind === 'refused' ? answer : { commit: answer.commit, tree: merged.tree };
}

/** The whole of the work as one commit, with the author of its last one. */
async function flatten(
  { dir, make }: Repo,
  head: Tip,
  {
    work,
    message,
    trailers = [],
    merged,
  }: Merge & { readonly merged: Awaited<ReturnType<typeof mergedTree>> },
  signal: AbortSignal,
): Promise<Candidate> {
  if (merged.kind === 'conflict') return merged;
  const { tree, settled } = merged;
  if (tree === head.tree) return { kind: 'built', ...head, settled }; // Everything already exists.
  const { author } = await readCommit(dir, work, signal);
  const made = { tree, parents: [head.commit], message: withTrailers(message, trailers), author };
  const answer = await make(dir, made, signal);
  return answer.kind === 'refused'
    ? answer
    : { kind: 'built', commit: answer.commit, tree, settled };
}
