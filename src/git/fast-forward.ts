/**
 * Lets a checkout follow its branch to a newer commit, as `git merge --ff-only` does, but for a few
 * things that one does not do:
 *
 *   O1. What the user has changed is never touched, ignored files included.
 *   O2. Nobody can move the branch while files are written, and the hook that may refuse to move it
 *       has been asked before. So files and branch are never left apart; with git's own command
 *       they are when a hook refuses, or when two of them run at the same time.
 *   O3. The post-merge hook runs as it would; what it does does not change the answer.
 */

import { nameAsText, QUOTE_BYTES, unquoted } from './byte-path.ts';
import { filesBetween } from './diff.ts';
import { type GitResult, git, LONG_LIMIT_MS, type Sha, splitNul, textOf } from './git.ts';
import { moveHeld } from './held-ref.ts';
import { runPostMerge } from './hooks.ts';
import { occupiedBy } from './occupied.ts';
import { isAncestor } from './refs.ts';
import { type Head, headBranch } from './repository.ts';
import { isOn, settingsIn } from './settings.ts';
import { isMerging, isPicking } from './unfinished.ts';

/** A working tree, and what it shares with others. */
export interface Checkout {
  readonly dir: string;
  readonly commonDir: string;
}

/** Whether a checkout could follow. Where it could not, nothing was touched. */
export type Followed =
  | { readonly kind: 'followed' }
  | Obstacle
  /** A hook does not let the branch move. */
  | { readonly kind: 'refused'; readonly said: string }
  /** The checkout has commits that the new one has not, or none at all. */
  | { readonly kind: 'diverged' };

type Obstacle =
  /** Changed, untracked or ignored files would be overwritten. */
  | { readonly kind: 'in-the-way'; readonly files: readonly string[] }
  /** git could not do it, for a reason of its own: a lock, a merge that is not concluded. */
  | { readonly kind: 'failed'; readonly why: string };

/** Moves what is checked out, branch and files, forward to a commit. */
export async function fastForward(
  checkout: Checkout,
  commit: Sha,
  signal: AbortSignal,
): Promise<Followed> {
  const { dir, commonDir } = checkout;
  const head = await headBranch(dir, signal);
  if (head.kind === 'unborn') return { kind: 'diverged' };
  if (head.commit === commit) return { kind: 'followed' };
  if (!(await isAncestor(commonDir, head.commit, commit, signal))) return { kind: 'diverged' };
  const ref = refOf(head);
  const step = { from: head.commit, to: commit };
  let obstacle: Followed | null = null;
  const write = async () => {
    const isThere = refOf(await headBranch(dir, signal)) === ref;
    obstacle = isThere ? await writeFiles(checkout, step, signal) : { kind: 'diverged' };
    return obstacle === null;
  };
  const message = 'landfast: fast-forward';
  const moved = await moveHeld(dir, { ref, ...step, message }, write, signal);
  switch (moved.kind) {
    case 'moved':
      await runPostMerge(commonDir, dir, signal);
      return { kind: 'followed' };
    case 'kept':
      return obstacle ?? { kind: 'diverged' };
    case 'lost':
      return { kind: 'diverged' };
    default:
      return moved;
  }
}

function refOf(head: Head): string {
  return head.kind === 'detached' ? 'HEAD' : `refs/heads/${head.name}`;
}

interface Step {
  readonly from: Sha;
  readonly to: Sha;
}

/** Brings index and files from one commit to the next, or touches nothing and says why. */
async function writeFiles(
  { dir, commonDir }: Checkout,
  { from, to }: Step,
  signal: AbortSignal,
): Promise<Obstacle | null> {
  const unfinished = unfinishedIn(dir);
  if (unfinished !== null) return { kind: 'failed', why: unfinished };
  const added = await addedBetween({ dir, commonDir }, { from, to }, signal);
  const hidden = await untrackedIn({ dir, commonDir }, added, signal);
  if (hidden.length > 0) return { kind: 'in-the-way', files: hidden };
  const write = (): Promise<GitResult> =>
    git(dir, ['read-tree', '-m', '-u', from, to], signal, OPTIONS);
  let result = await write();
  if (result.code !== 0 && IN_THE_WAY.test(result.stderr)) {
    // A file that was only touched is not a changed one.
    await git(dir, ['update-index', '-q', '--refresh'], signal, { okCodes: [0, 1, 128] });
    result = await write();
  }
  if (result.code === 0) return null;
  const files = IN_THE_WAY.test(result.stderr) ? await changedIn(dir, { from, to }, signal) : [];
  return files.length > 0 ? { kind: 'in-the-way', files } : { kind: 'failed', why: textOf(result) };
}

const OPTIONS = { okCodes: [0, 128], limitMs: LONG_LIMIT_MS };
const IN_THE_WAY = /not uptodate|would be overwritten|would lose untracked files/;

/** What git itself would not merge in the middle of. */
function unfinishedIn(dir: string): string | null {
  if (isMerging(dir)) return 'A merge waits to be concluded there.';
  return isPicking(dir) ? 'A cherry-pick waits to be concluded there.' : null;
}

/** The files that only the second commit has: names in bytes, as latin1. */
async function addedBetween(
  { dir }: Checkout,
  { from, to }: Step,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ['diff-tree', '-r', '--name-only', '--no-renames', '--diff-filter=A', from, to];
  const { stdout } = await git(dir, args, signal, { config: QUOTE_BYTES });
  return unquoted(linesOf(stdout));
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}

/** Files that git does not hold, ignored ones too, where one is to be put. */
async function untrackedIn(
  { dir, commonDir }: Checkout,
  added: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const there = occupiedBy(dir, added);
  if (there.length === 0) return [];
  // It names all of them: git takes no name as an argument that is not text.
  const { stdout } = await git(dir, ['ls-files', '--cached'], signal, { config: QUOTE_BYTES });
  // Where letters of either case are one name, a file that is only renamed lies in its own way.
  const foldsCase = isOn(await settingsIn(commonDir, signal), 'core.ignorecase');
  const keyOf = (name: string): string => (foldsCase ? inLowerCase(name) : name);
  const held = new Set(unquoted(linesOf(stdout)).map(keyOf));
  return there.filter((name) => !held.has(keyOf(name))).map(nameAsText);
}

/** As git does it: no other letters than those of ASCII. */
function inLowerCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Files that the user has changed, in the index or beside it, and that the step changes, too. */
async function changedIn(
  dir: string,
  { from, to }: Step,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const changed = new Set<string>();
  for (const where of [[], ['--cached']]) {
    const args = ['diff-index', '-z', '--name-only', '--no-renames', ...where, from];
    for (const path of splitNul((await git(dir, args, signal)).stdout)) changed.add(path);
  }
  return (await filesBetween(dir, from, to, signal)).filter((path) => changed.has(path));
}
