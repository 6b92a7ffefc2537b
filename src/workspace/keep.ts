/**
 * keep: makes everything in a workspace reachable from a ref, without touching its index or files.
 * Untracked files are part of the work; ignored ones are not. After `keepWork` returns a commit,
 * the workspace may be reset or removed.
 */

import { GitError, git, joinNul, LONG_LIMIT_MS, splitNul } from '../git/git.ts';
import { headOf, headRefOf, isAncestor, readRef, setRef, treeOf } from '../git/refs.ts';
import { coneOf, mayBeSparse } from '../git/sparse.ts';
import { type OwnIndex, withOwnIndex } from '../git/temp-folder.ts';
import { inCone } from '../model/cone.ts';
import { keptRef } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { branchOf, type RunContext } from './run-context.ts';

/** Saves a workspace's state under a ref: its last commit and uncommitted changes. */
export async function keepWork(
  dir: string,
  keep: {
    readonly ref: string;
    readonly message: string;
    /** A commit that is safe already: no ref is made for it. */
    readonly beyond?: Sha;
  },
  signal: AbortSignal,
): Promise<Sha> {
  const head = await headOf(dir, signal);
  const tree = await snapshotTree(dir, head, signal);
  const isCommitted = head !== null && (await treeOf(dir, head, signal)) === tree;
  const commit = isCommitted ? head : await snapshotCommit(dir, { tree, head, ...keep }, signal);
  if (commit !== keep.beyond) await setRef(dir, keep.ref, commit, signal);
  return commit;
}

/** A commit without identity, signature or hooks of the user: it must always succeed. */
export async function snapshotCommit(
  dir: string,
  what: { readonly tree: Sha; readonly head: Sha | null; readonly message: string },
  signal: AbortSignal,
): Promise<Sha> {
  const { tree, head, message } = what;
  const parents = head === null ? [] : ['-p', head];
  const args = ['commit-tree', ...parents, '-m', message, tree];
  return (await git(dir, args, signal, { env: LANDFAST_IDENTITY })).stdout.trim();
}

const LANDFAST_IDENTITY = {
  GIT_AUTHOR_NAME: 'landfast',
  GIT_AUTHOR_EMAIL: 'landfast@localhost',
  GIT_COMMITTER_NAME: 'landfast',
  GIT_COMMITTER_EMAIL: 'landfast@localhost',
};

/** The tree of everything that is not ignored, built in a separate index. */
async function snapshotTree(dir: string, head: Sha | null, signal: AbortSignal): Promise<Sha> {
  return withOwnIndex(dir, async (env) => {
    const begin = mayBeSparse(dir) ? await stagedTree(dir, signal) : null;
    const tree = begin ?? head;
    if (tree !== null) await git(dir, ['read-tree', tree], signal, { env, limitMs: LONG_LIMIT_MS });
    if (mayBeSparse(dir)) await skipMissing(dir, env, signal);
    await addStorable(dir, env, signal);
    return (await git(dir, ['write-tree'], signal, { env })).stdout.trim();
  });
}

/** Git has no place for a pipe or a socket, and they hold nothing that could be lost. */
async function addStorable(dir: string, env: OwnIndex, signal: AbortSignal): Promise<void> {
  const args = ['add', '-A', '--sparse'];
  const how = { env, limitMs: LONG_LIMIT_MS };
  const result = await git(dir, args, signal, { ...how, okCodes: [0, 128] });
  if (result.code === 0) return;
  const errors = result.stderr.split('\n').filter((line) => line.startsWith('error: '));
  const isOnlyThat = errors.every((line) => line.includes('can only add regular files'));
  if (errors.length === 0 || !isOnlyThat) throw new GitError(args, result);
  await git(dir, [...args, '--ignore-errors'], signal, { ...how, okCodes: [0, 1] });
}

/** Holds what a merge changed outside of a sparse checkout; null where the index is no tree. */
async function stagedTree(dir: string, signal: AbortSignal): Promise<Sha | null> {
  const { code, stdout } = await git(dir, ['write-tree'], signal, { okCodes: [0, 1, 128] });
  return code === 0 ? stdout.trim() : null;
}

/** Files missing outside of a sparse checkout were not deleted. */
async function skipMissing(dir: string, env: OwnIndex, signal: AbortSignal): Promise<void> {
  const missing = splitNul((await git(dir, ['ls-files', '-d', '-z'], signal, { env })).stdout);
  const folders = new Set(coneOf(dir) ?? []);
  const left = missing.filter((path) => !inCone(path, folders));
  if (left.length === 0) return;
  const stdin = joinNul(left);
  await git(dir, ['update-index', '--skip-worktree', '-z', '--stdin'], signal, { env, stdin });
}

/** Before a task's branch moves, commits that only it holds get a ref of their own. */
export async function keepBranchTip(
  context: RunContext,
  task: TaskId,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const ref = `refs/heads/${branchOf(context, task)}`;
  const [on, head] = await Promise.all([headRefOf(dir, signal), headOf(dir, signal)]);
  if (on === ref) return;
  const tip = await readRef(context.repository.commonDir, ref, signal);
  if (tip === null) return;
  if (head !== null && (await isAncestor(dir, tip, head, signal))) return;
  await setRef(dir, keptRef(context.run, `${task}_${tip.slice(0, 8)}`), tip, signal);
}
