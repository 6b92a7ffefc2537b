/**
 * Before publishing, proves that no landed work is missing.
 *
 * Merged work is in the history with every commit; one git process checks all of it. Squashed or
 * rebased work is not: its landing is repeated in memory, and must yield the files of the commit
 * recorded as its landing. Only files that do not merge by themselves may differ: a resolution or a
 * command made them (auto-resolve.ts). Where all landings were rebased onto a target that moved,
 * the same holds for them as a whole. A task's own commits follow from the order of landing: those
 * that its work has and the head before it has not.
 */

import { filesBetween } from '../git/diff.ts';
import { git } from '../git/git.ts';
import { commitsAfter, type Step } from '../git/history.ts';
import { mergeTree } from '../git/merge-tree.ts';
import { treeOf } from '../git/refs.ts';
import type { LandedWork } from '../model/effect.ts';
import type { ProvedWork } from '../model/event.ts';
import type { LandingSpec, Plan, Sha, TaskId } from '../model/plan.ts';
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
    readonly works: readonly LandedWork[];
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
    autoResolve: _,
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

export interface Published {
  readonly head: Sha;
  /** The target before. */
  readonly tip: Sha;
  readonly to: Sha;
  readonly landed: readonly LandedWork[];
  readonly strategy: LandingSpec['strategy'];
  /** All commits that `head` has and `base` has not, parents before children. */
  readonly steps: readonly Step[];
}

/** The commits of the target that are each task's own. */
export async function ownCommits(
  dir: string,
  published: Published,
  signal: AbortSignal,
): Promise<ReadonlyMap<TaskId, ProvedWork>> {
  const { landed, strategy, steps } = published;
  const place = new Map(steps.map(({ commit }, at) => [commit, at]));
  const parents = new Map(steps.map((step) => [step.commit, step.parents]));
  const seen = new Set<Sha>();
  /** The commits reachable from one that were not visited before, oldest first. */
  const walk = (from: Sha): readonly Sha[] => {
    const found: Sha[] = [];
    for (const open = [from]; open.length > 0; ) {
      const commit = open.pop()!;
      if (!parents.has(commit) || seen.has(commit)) continue;
      seen.add(commit);
      found.push(commit);
      open.push(...(parents.get(commit) ?? []));
    }
    return found.sort((a, b) => place.get(a)! - place.get(b)!);
  };
  const renamed = await renamedCommits(dir, published, signal);
  const own = landed.map(({ task, work, onto, commit }) => {
    const isThere = onto === commit; // It was merged by hand, or has nothing new.
    const isKept = isThere || strategy === 'merge';
    if (!isThere) walk(onto);
    const commits = walk(isKept ? work : commit).flatMap((each) => renamed(each) ?? []);
    const isInHistory = strategy === 'merge' || (isThere && commits.length > 0);
    return [task, provedBy(isInHistory ? 'history' : 'files', commits)] as const;
  });
  return new Map(own);
}

function provedBy(by: ProvedWork['by'], all: readonly Sha[]): ProvedWork {
  const more = all.length - MOST_COMMITS;
  return { by, commits: all.slice(0, MOST_COMMITS), ...(more > 0 ? { more } : {}) };
}

const MOST_COMMITS = 20;

/** Maps a landed commit to its counterpart in the target, which differs after a rebase. */
async function renamedCommits(
  dir: string,
  { head, tip, to }: Published,
  signal: AbortSignal,
): Promise<(commit: Sha) => Sha | null> {
  const isThere = head === to || (await missingFrom(dir, to, [head], signal)) === null;
  if (isThere) return (commit) => commit;
  const before = await commitsAfter(dir, { from: tip, to: head }, signal);
  const after = await commitsAfter(dir, { from: tip, to }, signal);
  if (before.length !== after.length) return () => null; // Some became one, or nothing.
  const names = new Map(before.map(({ commit }, at) => [commit, after[at]!.commit]));
  return (commit) => names.get(commit) ?? null;
}

/** Files that are regenerated by a command instead of merged. */
export function generatedScope({ landing }: Plan): readonly string[] {
  return (landing.regenerate ?? []).flatMap(({ paths }) => paths);
}
