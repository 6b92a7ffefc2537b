/** Work kept outside any branch, by refs below `refs/landfast/kept`. */

import { existsSync } from 'node:fs';
import { UserError } from '../base/errors.ts';
import { beyondBranches, changesOf } from '../git/history.ts';
import { deleteRef, type KeptRef, readRef, refsBelow, updateRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { addWorktree } from '../git/worktree.ts';
import { keptRef } from '../model/names.ts';
import { isGitBranchName } from './names.ts';

const PREFIX = 'refs/landfast/kept';

/** A kept ref, the run and task it is of, and what only it holds. */
export interface KeptWork extends KeptRef {
  readonly run: string;
  readonly what: string;
  readonly commits: number;
  readonly files: readonly string[];
}

export async function listKept(
  { dir }: Repository,
  signal: AbortSignal,
): Promise<readonly KeptWork[]> {
  return Promise.all(
    (await refsBelow(dir, PREFIX, signal)).map(async (one) => {
      const [run = '', ...what] = one.ref.slice(PREFIX.length + 1).split('/');
      const beyond = await beyondBranches(dir, one.commit, signal);
      return { ...one, run, what: what.join('/'), ...beyond };
    }),
  );
}

export function keptChanges(
  { dir }: Repository,
  { commit }: KeptRef,
  form: 'patch' | 'stat',
  signal: AbortSignal,
): Promise<string> {
  return changesOf(dir, commit, form, signal);
}

/** Puts kept work on a new branch, or into a new worktree; overwrites nothing. */
export async function restoreKept(
  { dir, commonDir }: Repository,
  one: KeptRef,
  { branch, path }: { readonly branch: string | null; readonly path: string | null },
  signal: AbortSignal,
): Promise<void> {
  if (branch !== null && !isGitBranchName(branch)) {
    throw new UserError(`${branch} is not a valid branch name.`);
  }
  if (path !== null && existsSync(path)) throw new UserError(`${path} already exists.`);
  if (branch !== null) {
    const ref = `refs/heads/${branch}`;
    const change = await updateRef(dir, ref, { to: one.commit, from: null }, signal);
    if (change.kind === 'lost') throw new UserError(`Branch ${branch} already exists.`);
  }
  if (path !== null) await addWorktree(commonDir, { path, branch, commit: one.commit }, signal);
}

/** Drops a kept ref; the commit stays until git collects it. */
export async function dropKept(
  { dir }: Repository,
  { ref, commit }: KeptRef,
  signal: AbortSignal,
): Promise<void> {
  const change = await deleteRef(dir, ref, commit, signal);
  if (change.kind === 'lost') throw new UserError(`${ref} has changed meanwhile.`);
}

/** By its full name, or as RUN/TASK the newest of that task. */
export async function findKept(
  { dir }: Repository,
  name: string,
  signal: AbortSignal,
): Promise<KeptRef> {
  const all = await refsBelow(dir, PREFIX, signal);
  const [run = '', ...rest] = name.split('/');
  const full = keptRef(run, rest.join('/'));
  const found =
    all.find(({ ref }) => ref === name || ref === full) ??
    all.find(({ ref }) => ref.startsWith(`${full}.`) || ref.startsWith(`${full}_`));
  if (found !== undefined) return found;
  if ((await readRef(dir, name, signal)) !== null) {
    throw new UserError(`${name} is not a kept ref.`, 'landfast kept lists them.');
  }
  throw new UserError(`Nothing is kept as ${name}.`, 'landfast kept lists what is kept.');
}
