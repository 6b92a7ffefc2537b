/**
 * Brings a checkout and its branch forward to a newer commit. Unlike `git merge --ff-only` it never
 * touches files that the user has changed, ignored ones included. The branch is locked while files
 * are written, and the hook that may refuse the move has agreed before, so files and branch never
 * diverge.
 */

import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import { trySystem } from '../base/errors.ts';
import { bytePath, nameAsText, QUOTE_BYTES, unquoted } from './byte-path.ts';
import { filesBetween } from './diff.ts';
import { type GitResult, git, LONG_LIMIT_MS, type Sha, splitNul, textOf } from './git.ts';
import { runPostMerge } from './hooks.ts';
import { isAncestor, moveHeld } from './refs.ts';
import { type Head, headBranch } from './repository.ts';
import { isOn, settingsIn } from './settings.ts';
import { isMerging, isPicking } from './status.ts';

interface Checkout {
  readonly dir: string;
  readonly commonDir: string;
}

/** Unless it is `followed`, nothing was touched. */
export type Followed =
  | { readonly kind: 'followed' }
  | Obstacle
  /** By a hook. */
  | { readonly kind: 'refused'; readonly said: string }
  /** The checkout has commits that the new one does not have, or none at all. */
  | { readonly kind: 'diverged' };

type Obstacle =
  /** Changed, untracked or ignored files would be overwritten. */
  | { readonly kind: 'in-the-way'; readonly files: readonly string[] }
  /** git failed: a lock, an unfinished merge. */
  | { readonly kind: 'failed'; readonly why: string };

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

/** Brings index and files from one commit to the next, or touches nothing. */
async function writeFiles(
  { dir, commonDir }: Checkout,
  { from, to }: Step,
  signal: AbortSignal,
): Promise<Obstacle | null> {
  const unfinished = unfinishedIn(dir);
  if (unfinished !== null) return { kind: 'failed', why: unfinished };
  const added = await addedBetween(dir, { from, to }, signal);
  const hidden = await untrackedIn({ dir, commonDir }, added, signal);
  if (hidden.length > 0) return { kind: 'in-the-way', files: hidden };
  const write = (): Promise<GitResult> =>
    git(dir, ['read-tree', '-m', '-u', from, to], signal, OPTIONS);
  let result = await write();
  if (result.code !== 0 && IN_THE_WAY.test(result.stderr)) {
    // A file with a new timestamp only is not changed.
    await git(dir, ['update-index', '-q', '--refresh'], signal, { okCodes: [0, 1, 128] });
    result = await write();
  }
  if (result.code === 0) return null;
  const files = IN_THE_WAY.test(result.stderr) ? await changedIn(dir, { from, to }, signal) : [];
  return files.length > 0 ? { kind: 'in-the-way', files } : { kind: 'failed', why: textOf(result) };
}

const OPTIONS = { okCodes: [0, 128], limitMs: LONG_LIMIT_MS };
const IN_THE_WAY = /not uptodate|would be overwritten|would lose untracked files/;

function unfinishedIn(dir: string): string | null {
  if (isMerging(dir)) return 'A merge is in progress there.';
  return isPicking(dir) ? 'A cherry-pick is in progress there.' : null;
}

/** The files that only the second commit has, as latin1 (byte-path.ts). */
async function addedBetween(
  dir: string,
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

/** Untracked files, ignored ones too, in place of added ones. */
async function untrackedIn(
  { dir, commonDir }: Checkout,
  added: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const there = occupiedBy(dir, added);
  if (there.length === 0) return [];
  // Lists all: a name that is not UTF-8 cannot be an argument.
  const { stdout } = await git(dir, ['ls-files', '--cached'], signal, { config: QUOTE_BYTES });
  // Where git ignores case (of ASCII letters), a file that is only renamed is in its own way.
  const foldsCase = isOn(await settingsIn(commonDir, signal), 'core.ignorecase');
  const keyOf = (name: string): string =>
    foldsCase ? name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : name;
  const held = new Set(unquoted(linesOf(stdout)).map(keyOf));
  return there.filter((name) => !held.has(keyOf(name))).map(nameAsText);
}

/** Files that the user has changed, staged or not, and that the step changes, too. */
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

/**
 * Everything in the way of files that are to be written, whether git knows it or not. No link is
 * followed: one in place of a folder is in the way itself. In place of a file, everything in a
 * folder is, and a nested repository by the name of its folder.
 */
function occupiedBy(dir: string, files: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const looked = new Map<string, Stats | undefined>();
  const look = (path: string): Stats | undefined => {
    if (!looked.has(path)) looked.set(path, statOf(dir, path));
    return looked.get(path);
  };
  for (const file of files) {
    const way = [...foldersAbove(file), file];
    const at = way.find((path) => look(path)?.isDirectory() !== true) ?? file;
    const stat = look(at);
    if (stat?.isDirectory() === true) for (const each of contentsOf(dir, at)) found.add(each);
    else if (stat !== undefined) found.add(at);
  }
  return [...found].sort();
}

/** Undefined also where it may not be looked at: git cannot write there either, and says so. */
function statOf(dir: string, path: string): Stats | undefined {
  return trySystem(() => lstatSync(bytePath(dir, path), { throwIfNoEntry: false }), undefined);
}

function* contentsOf(dir: string, outermost: string): Iterable<string> {
  const waiting = [outermost];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = entriesIn(dir, folder);
    if (entries.some(({ name }) => name === '.git')) {
      yield folder;
      continue;
    }
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      else yield path;
    }
  }
}

/** The outermost first. */
function foldersAbove(file: string): readonly string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, nth) => parts.slice(0, nth + 1).join('/'));
}

function entriesIn(dir: string, folder: string): readonly Dirent[] {
  const options = { withFileTypes: true, encoding: 'latin1' } as const;
  return trySystem(() => readdirSync(bytePath(dir, folder), options), []);
}
