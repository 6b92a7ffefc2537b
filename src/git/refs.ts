/**
 * Refs and the commits they name.
 *
 *   N1. A ref that others may move is moved by compare-and-swap: whoever moves it says what it was.
 *       Losing that race is an answer, with what the ref is now.
 *   N2. Reading is by full name (`refs/heads/x`), so that a tag or file of that name cannot lie.
 */

import { basename } from 'node:path';
import { Recent } from '../base/recent.ts';
import { GitError, git, type Sha } from './git.ts';
import { commonDirOf, linkedDirOf } from './git-dir.ts';
import { checkoutFor, nameOf, transact } from './long-lived.ts';

/** The result of a compare-and-swap. */
export type RefChange =
  | { readonly kind: 'moved' }
  /** Nothing was changed; null means that there is no such ref. */
  | { readonly kind: 'lost'; readonly actual: Sha | null };

/** The commit (or other object) of a ref, given by its full name, or null. */
export async function readRef(dir: string, ref: string, signal: AbortSignal): Promise<Sha | null> {
  const known = await nameOf(dir, ref);
  if (known !== null) return known === 'none' ? null : known;
  const args = ['rev-parse', '--quiet', '--verify', ref];
  const { stdout } = await git(dir, args, signal, { okCodes: [0, 1] });
  return stdout.trim() || null;
}

/**
 * Moves a ref if it is at `from` (null: if there is none), and says so otherwise; `assertHeld` throws
 * where it must not be moved any more, and is asked last of all. Lost to `to` itself
 * means that it has moved without our hearing of it: a caller whose commit is its own may take that
 * for a yes.
 */
export async function updateRef(
  dir: string,
  ref: string,
  {
    to,
    from,
    assertHeld,
  }: { readonly to: Sha; readonly from: Sha | null; readonly assertHeld?: () => void },
  signal: AbortSignal,
): Promise<RefChange> {
  const old = from ?? '0'.repeat(to.length);
  assertHeld?.();
  if ((await transact(dir, [`update ${ref} ${to} ${old}`])) === true) return { kind: 'moved' };
  assertHeld?.();
  return swap(dir, ref, { args: [ref, to, old], from }, signal);
}

/** Points a ref at a commit, wherever it was: only for refs that nobody else moves. */
export async function setRef(
  dir: string,
  ref: string,
  to: Sha,
  signal: AbortSignal,
): Promise<void> {
  if ((await transact(dir, [`update ${ref} ${to}`])) === true) return;
  await git(checkoutFor(dir), ['update-ref', ref, to], signal);
}

/** Takes HEAD of a linked worktree off its branch, which stays where it is. */
export async function detachHead(dir: string, head: Sha, signal: AbortSignal): Promise<void> {
  const entry = linkedDirOf(dir);
  if (entry !== null) {
    const lines = ['option no-deref', `update ${headRef(entry)} ${head}`];
    if ((await transact(commonDirOf(dir), lines)) === true) return;
  }
  await git(dir, ['update-ref', '--no-deref', 'HEAD', head], signal);
}

/** Deletes a ref if it is at `from`, and says so otherwise. */
export async function deleteRef(
  dir: string,
  ref: string,
  from: Sha,
  signal: AbortSignal,
): Promise<RefChange> {
  return swap(dir, ref, { args: ['-d', ref, from], from }, signal);
}

/** Whether `ancestor` is reachable from a commit or ref; a commit is an ancestor of itself. */
export async function isAncestor(
  dir: string,
  ancestor: Sha,
  of: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (ancestor === of) return true;
  const args = ['merge-base', '--is-ancestor', ancestor, of];
  return (await git(dir, args, signal, { okCodes: [0, 1] })).code === 0;
}

/** Trees of the commits that were asked for last: a commit never changes. */
const trees = new Recent<Sha, Sha>(1_000);

/** The tree of a commit. */
export async function treeOf(dir: string, commit: Sha, signal: AbortSignal): Promise<Sha> {
  const known = trees.get(commit);
  if (known !== undefined) return known;
  const told = await nameOf(dir, `${commit}^{tree}`);
  const args = ['rev-parse', '--verify', `${commit}^{tree}`];
  const isTold = told !== null && told !== 'none';
  const tree = isTold ? told : (await git(dir, args, signal)).stdout.trim();
  if (/^[0-9a-f]{40,}$/.test(commit)) trees.set(commit, tree);
  return tree;
}

/** The commit that HEAD of a working tree is at; null where nothing is committed there. */
export async function headOf(dir: string, signal: AbortSignal): Promise<Sha | null> {
  const entry = linkedDirOf(dir);
  const known = entry === null ? null : await nameOf(commonDirOf(dir), headRef(entry));
  if (known === null) return resolveCommit(dir, 'HEAD', signal);
  return known === 'none' ? null : known;
}

/** How HEAD of a linked worktree is called in the whole repository. */
function headRef(entry: string): string {
  return `worktrees/${basename(entry)}/HEAD`;
}

/** The full ref that HEAD of a working tree is on; null when it is detached. */
export async function headRefOf(dir: string, signal: AbortSignal): Promise<string | null> {
  const args = ['symbolic-ref', '--quiet', 'HEAD'];
  return (await git(dir, args, signal, { okCodes: [0, 1] })).stdout.trim() || null;
}

/** The commit that a person's name for it means (branch, tag, id, `HEAD~2`), or null. */
export async function resolveCommit(
  dir: string,
  name: string,
  signal: AbortSignal,
): Promise<Sha | null> {
  const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`];
  const { code, stdout } = await git(dir, args, signal, { okCodes: [0, 1, 128] });
  return code === 0 ? stdout.trim() : null;
}

async function swap(
  dir: string,
  ref: string,
  { args, from }: { readonly args: readonly string[]; readonly from: Sha | null },
  signal: AbortSignal,
): Promise<RefChange> {
  try {
    await git(checkoutFor(dir), ['update-ref', ...args], signal);
    return { kind: 'moved' };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const actual = await readRef(dir, ref, signal);
    if (actual === from) throw error; // The ref is as expected, so something else is wrong.
    return { kind: 'lost', actual };
  }
}

/** The branches below a ref, such as `refs/heads/team/`, without `refs/heads/`. */
export async function branchNames(
  dir: string,
  below: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { stdout } = await git(dir, ['for-each-ref', '--format=%(refname)', below], signal);
  const refs = stdout.split('\n').filter((line) => line !== '');
  return refs.map((ref) => ref.replace(/^refs\/heads\//, ''));
}
