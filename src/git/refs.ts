/**
 * Refs and the commits they name. A ref that others may move is moved by compare-and-swap; a lost
 * race is a result. Refs are read by full name (`refs/heads/x`), so that no tag or file of that
 * name is meant.
 */

import { basename } from 'node:path';
import { Recent } from '../base/recent.ts';
import { PerRuntime } from '../base/runtime.ts';
import { GitError, git, type Sha } from './git.ts';
import { commonDirOf, linkedDirOf } from './git-dir.ts';
import { Conversation, checkoutFor, nameOf, transact } from './long-lived.ts';

export type RefChange =
  | { readonly kind: 'moved' }
  /** Nothing was changed; null: there is no such ref. */
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
 * Moves a ref if it is at `from` (null: if it does not exist). `assertHeld` throws where it must not
 * be moved any more, and is called last. Lost to `to` itself means that the ref moved although git
 * failed: a caller that made the commit may take it as moved.
 */
export async function updateRef(
  dir: string,
  ref: string,
  change: { readonly to: Sha; readonly from: Sha | null; readonly assertHeld?: () => void },
  signal: AbortSignal,
): Promise<RefChange> {
  const { to, from, assertHeld } = change;
  const old = from ?? '0'.repeat(to.length);
  assertHeld?.();
  if ((await transact(dir, [`update ${ref} ${to} ${old}`])) === true) return { kind: 'moved' };
  assertHeld?.();
  return swap(dir, ref, { args: [ref, to, old], from }, signal);
}

/** Points a ref at a commit, wherever it was: only for refs that no other process moves. */
export async function setRef(
  dir: string,
  ref: string,
  to: Sha,
  signal: AbortSignal,
): Promise<void> {
  if ((await transact(dir, [`update ${ref} ${to}`])) === true) return;
  await git(checkoutFor(dir), ['update-ref', ref, to], signal);
}

/** Detaches HEAD of a linked worktree; its branch stays where it is. */
export async function detachHead(dir: string, head: Sha, signal: AbortSignal): Promise<void> {
  const entry = linkedDirOf(dir);
  if (entry !== null) {
    const lines = ['option no-deref', `update ${headRef(entry)} ${head}`];
    if ((await transact(commonDirOf(dir), lines)) === true) return;
  }
  await git(dir, ['update-ref', '--no-deref', 'HEAD', head], signal);
}

/** Deletes a ref if it is at `from`. */
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

/** A commit never changes. */
const trees = new PerRuntime(() => new Recent<Sha, Sha>(1_000));

export async function treeOf(dir: string, commit: Sha, signal: AbortSignal): Promise<Sha> {
  const known = trees.current?.get(commit);
  if (known !== undefined) return known;
  const told = await nameOf(dir, `${commit}^{tree}`);
  const args = ['rev-parse', '--verify', `${commit}^{tree}`];
  const isTold = told !== null && told !== 'none';
  const tree = isTold ? told : (await git(dir, args, signal)).stdout.trim();
  if (/^[0-9a-f]{40,}$/.test(commit)) trees.current?.set(commit, tree);
  return tree;
}

/** The commit that HEAD of a working tree is at; null where nothing is committed there. */
export async function headOf(dir: string, signal: AbortSignal): Promise<Sha | null> {
  const entry = linkedDirOf(dir);
  const known = entry === null ? null : await nameOf(commonDirOf(dir), headRef(entry));
  if (known === null) return resolveCommit(dir, 'HEAD', signal);
  return known === 'none' ? null : known;
}

/** HEAD of a linked worktree, as a ref of the repository. */
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

export interface KeptRef {
  readonly ref: string;
  readonly commit: Sha;
  /** When its commit was made (ms since 1970). */
  readonly at: number;
  readonly subject: string;
}

/** Every ref below a prefix, the newest first. */
export async function refsBelow(
  dir: string,
  prefix: string,
  signal: AbortSignal,
): Promise<readonly KeptRef[]> {
  const format = '%(refname)%09%(objectname)%09%(committerdate:unix)%09%(contents:subject)';
  const args = ['for-each-ref', '--sort=-committerdate', `--format=${format}`, prefix];
  const { stdout } = await git(dir, args, signal);
  return stdout.split('\n').flatMap((line) => {
    const [ref, commit, at, ...subject] = line.split('\t');
    if (ref === undefined || commit === undefined || ref === '') return [];
    return [{ ref, commit, at: Number(at) * 1000, subject: subject.join('\t') }];
  });
}

export interface Move {
  readonly ref: string;
  readonly to: Sha;
  readonly from: Sha;
  /** For the reflog. */
  readonly message: string;
}

export type HeldMove =
  | { readonly kind: 'moved' }
  /** The work returned false. */
  | { readonly kind: 'kept' }
  /** By a hook. */
  | { readonly kind: 'refused'; readonly said: string }
  /** The ref is not at `from`. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly why: string };

/** How long to wait for a locked ref. */
const PATIENCE_MS = 20_000;

/**
 * Does the work only where the ref can be moved, and moves it if the work returns true. Meanwhile the
 * ref is locked, and the user's hook has agreed. If this process dies, git unlocks it unchanged.
 */
export async function moveHeld(
  dir: string,
  move: Move,
  work: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<HeldMove> {
  const { ref, to, from, message } = move;
  const patience = ['-c', `core.filesRefLockTimeout=${PATIENCE_MS}`];
  const update = [...patience, 'update-ref', '-m', message, '--stdin'];
  await using git = new Conversation(dir, update, { signal });
  await git.send(`start\nupdate ${ref} ${to} ${from}\nprepare\n`);
  if ((await git.read((line) => line === 'prepare: ok')) === null) return whyNot(git);
  if (!(await work())) return { kind: 'kept' }; // Without a commit git aborts.
  await git.send('commit\n');
  const isMoved = (await git.read((line) => line === 'commit: ok')) !== null;
  return isMoved ? { kind: 'moved' } : whyNot(git);
}

async function whyNot(git: Conversation): Promise<HeldMove> {
  const exit = await git.ended;
  const text = git.errors;
  const said = objectionIn(text);
  if (said !== null) return { kind: 'refused', said };
  if (ELSEWHERE.test(text)) return { kind: 'lost' };
  const end = exit?.kind === 'signalled' ? exit.signal : 'it ended';
  return { kind: 'failed', why: text === '' ? `git update-ref did not answer: ${end}.` : text };
}

/** The message of a hook that refused to move a ref, each line once; null if none did. */
export function objectionIn(stderr: string): string | null {
  const lines = stderr.trim().split('\n');
  if (!lines.some((line) => BY_HOOK.test(line))) return null;
  return [...new Set(lines)].filter((line) => !BY_HOOK.test(line)).join('\n');
}

const BY_HOOK = /^fatal: .*aborted by (?:the reference-transaction )?hook/;
const ELSEWHERE = /but expected|unable to resolve reference|reference is missing/;
