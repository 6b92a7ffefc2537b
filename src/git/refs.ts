/**
 * Refs and the commits they name.
 *
 *   N1. A ref that others may move is moved by compare-and-swap: whoever moves it says what it was.
 *       Losing that race is an answer, with what the ref is now.
 *   N2. Reading is by full name (`refs/heads/x`), so that a tag or file of that name cannot lie.
 */

import { Recent } from '../base/recent.ts';
import { GitError, git, type Sha } from './git.ts';
import { headerOf } from './loose-object.ts';
import { makeRef, moveRef } from './loose-ref.ts';
import { areReadAsWritten, headInFiles, refInFiles } from './ref-files.ts';

/** The result of a compare-and-swap. */
export type RefChange =
  | { readonly kind: 'moved' }
  /** Nothing was changed; null means that there is no such ref. */
  | { readonly kind: 'lost'; readonly actual: Sha | null };

/** The commit (or other object) of a ref, given by its full name, or null. */
export async function readRef(dir: string, ref: string, signal: AbortSignal): Promise<Sha | null> {
  const args = ['rev-parse', '--quiet', '--verify', ref];
  const { stdout } = await git(dir, args, signal, { okCodes: [0, 1] });
  return stdout.trim() || null;
}

/** The same for a repository's common directory, where a look into its files mostly suffices. */
export async function tipOf(
  commonDir: string,
  ref: string,
  signal: AbortSignal,
): Promise<Sha | null> {
  const told = refInFiles(commonDir, ref);
  return told === undefined ? readRef(commonDir, ref, signal) : told;
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
  const move = { ref, to, from: old, assertHeld };
  const isMoved = await (from === null ? makeRef(dir, move, signal) : moveRef(dir, move, signal));
  if (isMoved === true) return { kind: 'moved' };
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
  await git(dir, ['update-ref', ref, to], signal);
}

/** Takes HEAD off its branch, which stays where it is; not off one that has no commit yet. */
export async function detachHead(dir: string, signal: AbortSignal): Promise<void> {
  const head = await headOf(dir, signal);
  if (head !== null) await git(dir, ['update-ref', '--no-deref', 'HEAD', head], signal);
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
  const commit = of.startsWith('refs/') ? (refInFiles(dir, of) ?? of) : of;
  if (ancestor === commit || isOnLine(dir, ancestor, commit)) return true;
  const args = ['merge-base', '--is-ancestor', ancestor, commit];
  return (await git(dir, args, signal, { okCodes: [0, 1] })).code === 0;
}

/** Farther than that git finds it faster. */
const MOST_STEPS = 500;

/** Whether it is found among first parents, as far as these can be read; no says nothing. */
function isOnLine(commonDir: string, ancestor: Sha, commit: Sha): boolean {
  let at: Sha | undefined = areReadAsWritten(commonDir) ? commit : undefined;
  for (let left = MOST_STEPS; left > 0 && at !== undefined; left -= 1) {
    if (at === ancestor) return true;
    at = headerOf(commonDir, at)?.parents[0];
  }
  return false;
}

/** Trees of commits that no file of their own told of: those that were asked for last. */
const trees = new Recent<Sha, Promise<Sha>>(100);

/** The tree of a commit; in a repository's common directory mostly a file tells it. */
export async function treeOf(dir: string, commit: Sha, signal: AbortSignal): Promise<Sha> {
  // Somebody else may have asked, and been stopped.
  const header = areReadAsWritten(dir) ? headerOf(dir, commit) : null;
  const known = header?.tree ?? (await trees.get(commit)?.catch(() => null)) ?? null;
  if (known !== null) return known;
  const args = ['rev-parse', '--verify', `${commit}^{tree}`];
  const asked = git(dir, args, signal).then(({ stdout }) => stdout.trim());
  if (!/^[0-9a-f]{40,}$/.test(commit)) return asked;
  trees.set(commit, asked);
  asked.catch(() => trees.delete(commit));
  return asked;
}

/** Remembers the tree of a commit, from whoever has seen it. */
export function noteTree(commit: Sha, tree: Sha): void {
  trees.set(commit, Promise.resolve(tree));
}

/** The commit that HEAD of a working tree is at. */
export async function headOf(dir: string, signal: AbortSignal): Promise<Sha | null> {
  return (await headInFiles(dir)) ?? resolveCommit(dir, 'HEAD', signal);
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
    await git(dir, ['update-ref', ...args], signal);
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
