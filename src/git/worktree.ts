/**
 * Worktrees: adding, removing, listing.
 *
 * A run registers and unregisters one at a time: git reads half-made entries of others and fails.
 * Between runs git.ts retries. Filling the files, which takes long, is done in parallel. An
 * addWorktree that fails or is aborted leaves no worktree behind. Only a linked worktree of this
 * repository is ever removed: its folder is moved aside at once, and deleted afterwards. Other
 * entries are never pruned: a missing folder may be on a disk that is not mounted.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { readFile, rmdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { OperationalError, otherwise } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import { Mutex } from '../base/mutex.ts';
import { PerRuntime } from '../base/runtime.ts';
import { deleteFolder } from './file-system.ts';
import { GitError, git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { entriesIn, gitDirOf, isLinked, linkedDirOf, placeTold, realOf } from './git-dir.ts';
import { runPostCheckout } from './hooks.ts';
import { checkoutFor } from './long-lived.ts';
import { readRef } from './refs.ts';
import { settingsIn } from './settings.ts';
import { type Cone, setCone } from './sparse.ts';
import { forgetNotes, readNote, writeNote } from './worktree-notes.ts';

export interface NewWorktree {
  /** Absolute; must not exist. */
  readonly path: string;
  /** A new branch, or one already at the commit; null for a detached HEAD. */
  readonly branch: string | null;
  readonly commit: Sha;
  /** For `ownerOf`. */
  readonly owner?: string;
  readonly cone?: Cone | null;
  /** Throws where it must not be made any more, after waiting for others. */
  readonly assertHeld?: () => void;
}

export interface Worktree {
  readonly path: string;
  /** Null for a bare repository, and before the first commit. */
  readonly head: Sha | null;
  /** Without `refs/heads/`; null if detached. */
  readonly branch: string | null;
  readonly locked: boolean;
  /** Its folder is missing. */
  readonly prunable: boolean;
}

/** Folders that are being deleted, beside the worktrees. */
const REMOVED = '.removed';

const CLEAN_UP_MS = 60_000;

/** Writing files is bound by the disk rather than the CPU; few are not worth a process. */
const CHECKOUT_WORKERS = {
  'checkout.workers': String(Math.min(8, 2 * availableParallelism())),
  'checkout.thresholdForParallelism': '1000',
};

/** How workspaces are filled. A reflog of HEAD would show the previous task to the next one. */
export const FILLING = {
  config: { ...CHECKOUT_WORKERS, 'core.fileMode': 'true', 'core.logAllRefUpdates': 'false' },
  limitMs: LONG_LIMIT_MS,
};

/** Adds a worktree with a commit's files; returns when they were written (ms since 1970). */
export async function addWorktree(
  commonDir: string,
  worktree: NewWorktree,
  signal: AbortSignal,
): Promise<number> {
  const { path, owner, cone } = worktree;
  await alone(commonDir, () => register(commonDir, worktree, signal));
  try {
    if (owner !== undefined) setOwner(path, owner);
    if (cone) await setCone(path, cone, signal);
    const fill = ['reset', '--hard', '--quiet', '--no-recurse-submodules'];
    await git(path, fill, signal, FILLING);
    const filledAt = Date.now();
    await runPostCheckout(commonDir, worktree, signal);
    return filledAt;
  } catch (error) {
    // The first error is the one to report.
    const cleanUp = AbortSignal.timeout(CLEAN_UP_MS);
    await removeWorktree(commonDir, path, cleanUp).catch(otherwise(undefined));
    throw error;
  }
}

const OWNER = 'owner';

export function setOwner(path: string, owner: string): void {
  writeNote(path, OWNER, owner);
}

/** The owner of a worktree; null for one without, and for any other folder. */
export function ownerOf(path: string): string | null {
  return readNote(path, OWNER);
}

/** Removes a worktree with all files, or the entry of one that is gone. */
export async function removeWorktree(
  commonDir: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const aside = await dropWorktree(commonDir, path, signal);
  if (aside === null) return;
  await deleteFolder(aside, signal);
  await rmdir(dirname(aside)).catch(otherwise(undefined)); // Fails while others are being deleted.
}

/** The same, but the files wait for `sweepRemoved`; returns where, or null if there were none. */
export async function dropWorktree(
  commonDir: string,
  path: string,
  signal: AbortSignal,
): Promise<string | null> {
  const entry = isLinked(commonDir, path) ? linkedDirOf(path) : null;
  if (entry !== null && realOf(placeTold(entry) ?? path) !== realOf(path)) {
    await git(commonDir, ['worktree', 'repair', path], signal); // It was moved by hand.
  }
  const aside = moveAside(commonDir, path);
  if (entry !== null) forgetNotes(entry);
  await alone(commonDir, () => unregister(commonDir, path, signal));
  return aside;
}

/** Moves a worktree to another folder, which must not exist. Not for one with submodules. */
export async function moveWorktree(
  commonDir: string,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  await git(commonDir, ['worktree', 'move', from, to], signal);
}

/** Unregisters worktrees that are gone from a folder of workspaces, unless it is missing itself. */
export async function forgetGone(
  commonDir: string,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  for (const entry of existsSync(folder) ? entriesIn(commonDir) : []) {
    const path = placeTold(entry);
    if (path === null || dirname(path) !== folder || existsSync(path)) continue;
    forgetNotes(entry);
    await alone(commonDir, () => unregister(commonDir, path, signal));
  }
}

/** Deletes what an interrupted removal left in a folder of worktrees. */
export async function sweepRemoved(worktreesDir: string, signal: AbortSignal): Promise<void> {
  const folder = join(worktreesDir, REMOVED);
  if (existsSync(folder)) await deleteFolder(folder, signal);
}

export interface Place {
  readonly commonDir: string;
  /** The checkout in which Landfast was started. */
  readonly dir?: string;
}

/** All worktrees of a repository, the main one first. */
export async function listWorktrees(
  place: Place,
  signal: AbortSignal,
): Promise<readonly Worktree[]> {
  const { commonDir } = place;
  const { stdout } = await git(commonDir, ['worktree', 'list', '--porcelain', '-z'], signal);
  const [main, ...linked] = parseWorktrees(stdout);
  return main === undefined ? [] : [await whereItIs(main, place, signal), ...linked];
}

/**
 * The main worktree with its own path. A git folder that is not called `.git` is outside of its
 * checkout (`git init --separate-git-dir`, a submodule); git then lists the git folder itself, and
 * does not always know the checkout. One that is not found is listed as on no branch.
 */
async function whereItIs(main: Worktree, place: Place, signal: AbortSignal): Promise<Worktree> {
  const gitDir = realOf(place.commonDir);
  const isBare = main.head === null && main.branch === null;
  if (isBare || realOf(main.path) !== gitDir) return main;
  const set = (await settingsIn(place.commonDir, signal)).get('core.worktree');
  const places = [
    ...(place.dir === undefined ? [] : [place.dir]),
    ...(typeof set === 'string' ? [resolve(place.commonDir, set)] : []),
  ];
  const path = places.find(
    (each) => existsSync(join(each, '.git')) && realOf(gitDirOf(each)) === gitDir,
  );
  return path === undefined ? { ...main, branch: null } : { ...main, path };
}

/** The path of the worktree in which a branch is checked out, or null. */
export async function checkoutOf(
  place: Place,
  branch: string,
  signal: AbortSignal,
): Promise<string | null> {
  return checkoutAmong(await listWorktrees(place, signal), branch);
}

export function checkoutAmong(worktrees: readonly Worktree[], branch: string): string | null {
  return worktrees.find((one) => one.branch === branch && !one.prunable)?.path ?? null;
}

/** The worktree in which a branch is being rebased: HEAD is detached there. */
export async function rebasing(
  worktrees: readonly Worktree[],
  branch: string,
): Promise<string | null> {
  for (const { path, branch: at, prunable } of worktrees) {
    if (at !== null || prunable) continue;
    const gitDir = gitDirOf(path);
    for (const state of ['rebase-merge', 'rebase-apply']) {
      const name = await readFile(join(gitDir, state, 'head-name'), 'utf8').catch(otherwise(''));
      if (name.trim() === `refs/heads/${branch}`) return path;
    }
  }
  return null;
}

/** An empty field ends an entry; a field is a name and perhaps a value. */
export function parseWorktrees(text: string): readonly Worktree[] {
  const entries: Map<string, string>[] = [];
  for (const field of splitNul(text)) {
    const [name = '', ...value] = field.split(' ');
    if (name === 'worktree') entries.push(new Map());
    entries.at(-1)?.set(name, value.join(' '));
  }
  return entries.map((entry) => ({
    path: entry.get('worktree') ?? '',
    head: entry.get('HEAD')?.replace(/^0+$/, '') || null,
    branch: entry.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
    locked: entry.has('locked'),
    prunable: entry.has('prunable'),
  }));
}

const mutexes = new PerRuntime(() => new Map<string, Mutex>());

function alone<T>(commonDir: string, work: () => Promise<T>): Promise<T> {
  const mutex = mutexes.current?.get(commonDir) ?? new Mutex();
  mutexes.current?.set(commonDir, mutex);
  return mutex.run(work);
}

/** Adds the entry. Each known obstacle is handled once. */
async function register(
  commonDir: string,
  worktree: NewWorktree,
  signal: AbortSignal,
): Promise<void> {
  const { path, branch, commit } = worktree;
  worktree.assertHeld?.();
  let target = branch === null ? ['--detach', path, commit] : ['-b', branch, path, commit];
  const add = async (): Promise<string | null> => {
    const args = ['worktree', 'add', '--quiet', '--no-checkout', ...target];
    const options = { ...FILLING, okCodes: [0, 128, 255] };
    const result = await git(checkoutFor(commonDir), args, signal, options);
    if (result.code === 0) return null;
    if (/missing but already registered|a branch named .* already exists/.test(result.stderr)) {
      return result.stderr;
    }
    throw new GitError(args, result);
  };
  let obstacle = await add();
  if (obstacle !== null && branch !== null && /a branch named/.test(obstacle)) {
    const tip = await readRef(commonDir, `refs/heads/${branch}`, signal);
    if (tip !== commit)
      throw new OperationalError(`the branch ${branch} exists already, at ${tip}`);
    target = [path, branch];
    obstacle = await add();
  }
  if (obstacle !== null && /missing but already registered/.test(obstacle)) {
    await unregister(commonDir, path, signal);
    obstacle = await add();
  }
  if (obstacle !== null) throw new OperationalError(`cannot add ${path}: ${obstacle.trim()}`);
}

/** `--force` twice: also if it is dirty or locked. 128: git does not know it. */
async function unregister(commonDir: string, path: string, signal: AbortSignal): Promise<void> {
  const args = ['worktree', 'remove', '--force', '--force', path];
  const { code, stderr } = await git(commonDir, args, signal, { okCodes: [0, 128] });
  if (code !== 0 && !/is not a working tree/.test(stderr)) {
    throw new OperationalError(`cannot remove the worktree ${path}: ${stderr.trim()}`);
  }
}

/** Returns where the folder was moved to, or null if there was none. */
function moveAside(commonDir: string, path: string): string | null {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  if (readdirSync(path).length > 0 && !isLinked(commonDir, path)) {
    throw new OperationalError(`${path} is not a worktree of ${commonDir}, so it is not removed`);
  }
  const aside = join(dirname(path), REMOVED, `${basename(path)}-${randomUUID()}`);
  for (let tries = 0; ; tries += 1) {
    try {
      makeFolders(dirname(aside));
      renameSync(path, aside);
      return aside;
    } catch (error) {
      if (tries === 20 || !existsSync(path)) throw error; // Another removal has just deleted the folder.
    }
  }
}
