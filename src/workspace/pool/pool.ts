/**
 * pool: reuses worktrees for the next task, in this run or a later one. A task sees nothing of the
 * previous one: a worktree is restored (restore.ts) before it is idle, and again if it waited for
 * another process. Two engines never use the same one: its note is claimed (idle-worktrees.ts). A
 * broken or half handed over one is removed and replaced: no idle worktree holds work.
 */

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isSystemError, otherwise, rethrowBug } from '../../base/errors.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { pause } from '../../base/pause.ts';
import { isSetBack, type Moment, momentOf } from '../../base/steady-clock.ts';
import { filesBetween } from '../../git/diff.ts';
import { git } from '../../git/git.ts';
import { isLinked, mendLink, realOf } from '../../git/git-dir.ts';
import { runPostCheckout } from '../../git/hooks.ts';
import { detachHead, setRef } from '../../git/refs.ts';
import type { Cone } from '../../git/sparse.ts';
import { settleIndex } from '../../git/status.ts';
import { ignoredMatching, removeUntracked } from '../../git/untracked.ts';
import {
  addWorktree,
  dropWorktree,
  FILLING,
  moveWorktree,
  removeWorktree,
  setOwner,
  sweepRemoved,
} from '../../git/worktree.ts';
import { forgetNotes } from '../../git/worktree-notes.ts';
import type { Sha } from '../../model/plan.ts';
import { foldersInUse } from '../../process/process-list.ts';
import { diskUse } from '../disk.ts';
import { forgetInjected } from '../inject.ts';
import { type FilesKnown, forgetMoves, gitStateOf, restore } from '../restore.ts';
import { forgetSetup, isCovered, isThere, type Setup, setupIn } from '../setup.ts';
import {
  type Committed,
  findTouched,
  isAsCommitted,
  SLACK_MS,
  type TouchedFiles,
} from '../touched-files.ts';
import type { ClaimOwner } from './claim-owner.ts';
import {
  claimIdle,
  forgetIdle,
  type Idle,
  type IdleWorktree,
  idleIn,
  noteIdle,
} from './idle-worktrees.ts';
import { PendingReturns } from './pending-returns.ts';

export interface PoolPlace {
  readonly commonDir: string;
  /** For worktrees that wait for a later run. */
  readonly folder: string;
  readonly run: string;
  /** Most idle worktrees at a time; 0 turns the pool off. */
  readonly most: number;
  /** How many of them stay for a later run. */
  readonly later: number;
  /** They stay even in a small repository. */
  readonly small: boolean;
  /** Most bytes for all of them; null for no limit. */
  readonly disk: number | null;
  /** Ignored files that the next task may find, in git's ignore syntax. */
  readonly keepFiles: readonly string[];
  readonly me: ClaimOwner;
}

export type Added =
  | 'added'
  /** New worktrees of the repository get settings that a pooled one would lack. */
  | 'own-settings'
  | 'submodules'
  | 'disk'
  | 'full';

export interface ReturnedWorktree extends FilesKnown {
  readonly commit: Sha;
  /** Its set-up, if the next task may use the results. */
  readonly setup?: Setup | null;
}

interface WantedWorktree {
  readonly dir: string;
  readonly commit: Sha;
  /** A branch that is made or moved; null for a detached HEAD. */
  readonly branch: string | null;
  readonly owner: string | null;
  /** For a sparse checkout, which is never pooled. */
  readonly cone?: Cone | null;
  /** Throws where another engine has taken over the run. */
  readonly assertHeld?: () => void;
}

const CLEAN_UP_MS = 60_000;

/** A hook is run once, for the task that gets a worktree, which is new to it. */
const WITHOUT_HOOKS = {
  ...FILLING,
  config: { ...FILLING.config, 'core.hooksPath': '/dev/null' },
};

export class Pool {
  readonly place: PoolPlace;
  readonly pending = new PendingReturns();
  /** When each worktree in use was last a clean checkout, by path. */
  readonly #since = new Map<string, Moment>();
  /** The index and HEAD at that time, and the commit that has held everything since. */
  readonly #given = new Map<string, string | null>();
  readonly #committed = new Map<string, Committed>();
  /** Made ahead of a run by `pool warm`. */
  readonly #asked = new Set<string>();
  /** Idle worktrees that this engine has returned, by path. */
  readonly #ours = new Map<string, IdleWorktree>();

  constructor(place: PoolPlace) {
    this.place = place;
  }

  /** A task uses the worktree, a clean checkout, from now on. */
  begin(dir: string, filledAt: number): void {
    this.#since.set(dir, momentOf(filledAt));
    this.#given.set(dir, gitStateOf(dir));
    this.#committed.delete(dir);
  }

  isGitAsGiven(dir: string): boolean {
    const given = this.#given.get(dir) ?? null;
    return given !== null && given === gitStateOf(dir);
  }

  /** A commit holds everything in a worktree as of `stagedAt`. */
  commit(dir: string, commit: Sha, stagedAt: number): void {
    this.#committed.set(dir, { commit, at: momentOf(stagedAt) });
  }

  /** The commit that still holds everything in a worktree; null where that is not certain. */
  async heldBy(dir: string, signal: AbortSignal) {
    const [committed, since] = [this.#committed.get(dir), this.sinceOf(dir)];
    if (committed === undefined || since === null) return null;
    const found = await findTouched({ dir, since: since.at, keep: [] }, signal);
    return isAsCommitted(committed, found) ? { commit: committed.commit, found } : null;
  }

  /** When a worktree was last a clean checkout; null if unknown. */
  sinceOf(dir: string): Moment | null {
    return this.#since.get(dir) ?? null;
  }

  /** Makes a worktree without work idle; false where the caller has to remove it. */
  async put(dir: string, what: ReturnedWorktree, signal: AbortSignal): Promise<boolean> {
    const { most, keepFiles, me, commonDir } = this.place;
    const since = this.sinceOf(dir);
    this.#since.delete(dir);
    this.#committed.delete(dir);
    const isFull = this.#ours.size >= most && this.idle().length >= most;
    if (isFull || hasOwnSettings(commonDir)) return false;
    if (!isLinked(commonDir, dir)) return false; // Not by what an agent has made of it.
    const kept = keepFiles.length === 0 ? [] : await ignoredMatching(dir, keepFiles, signal);
    const { bare, flagged } = what;
    const found = kept.length === 0 ? (what.found ?? null) : null;
    const left = await restore({ dir, since, keep: kept, bare, flagged, found }, signal);
    if (left === null) return false;
    if (what.setup == null || !isCovered(what.setup.made, kept)) forgetSetup(dir);
    forgetInjected(dir);
    await detachHead(dir, what.commit, signal);
    const noted = await this.#note(dir, { commit: what.commit, kept, left }, signal);
    if (noted === null) forgetIdle(dir, me);
    else this.#ours.set(dir, noted);
    return noted !== null;
  }

  /** Makes a new idle worktree at a commit, ahead of any task. */
  async add(commit: Sha, signal: AbortSignal): Promise<Added> {
    const { commonDir, most } = this.place;
    if (hasOwnSettings(commonDir)) return 'own-settings';
    if (this.idle().length >= most) return 'full';
    const path = this.#reservePlace();
    const filledAt = await addWorktree(commonDir, { path, branch: null, commit }, signal);
    this.#asked.add(path);
    const keep: readonly string[] = [];
    const known = { since: momentOf(filledAt), bare: false, flagged: false };
    const left = await restore({ dir: path, keep, ...known }, signal);
    if (left !== null) await git(path, ['checkout', '-q', '-f', '--detach'], signal, WITHOUT_HOOKS);
    if (left !== null) await settleIndex(path, signal);
    await pause(SLACK_MS, signal); // A run sees what is younger.
    const noted = left && (await this.#note(path, { commit, kept: [], left }, signal));
    if (noted !== null) return 'added';
    await removeWorktree(commonDir, path, signal);
    await this.#removeEmptyFolders();
    return left === null ? 'submodules' : 'disk';
  }

  async take(wanted: WantedWorktree, signal: AbortSignal): Promise<boolean> {
    if (this.place.most === 0 || hasOwnSettings(this.place.commonDir)) return false;
    if ((wanted.cone ?? null) !== null) return false;
    while (!signal.aborted) {
      if (await this.#takeOne(wanted, signal)) return true;
      if (!(await this.pending.next())) return false;
    }
    return false;
  }

  async #takeOne(wanted: WantedWorktree, signal: AbortSignal): Promise<boolean> {
    const { commonDir, me } = this.place;
    for (const one of this.#candidatesFor(wanted)) {
      if (one.path !== wanted.dir && !isVacant(wanted.dir)) continue; // Git would move it inside.
      const isOurs = this.#ours.delete(one.path);
      const taken = claimIdle(commonDir, one, me);
      if (taken === 'broken') await this.#discard(one.path, one.entry);
      if (taken !== 'taken') continue;
      if (await this.#handOver(one, wanted, { isOurs, signal })) {
        this.pending.guess(one.note.files);
        return true;
      }
    }
    return false;
  }

  /**
   * Worktrees of this engine first: finding them costs nothing. One at the wanted path comes before
   * all others, then those at the wanted commit.
   */
  *#candidatesFor({ dir, commit }: WantedWorktree): Iterable<IdleWorktree> {
    const rank = ({ path, note }: IdleWorktree): number =>
      path === dir ? 0 : note.commit === commit ? 1 : 2;
    const ranked = (all: readonly IdleWorktree[]) => [...all].sort((a, b) => rank(a) - rank(b));
    if (isVacant(dir)) yield* ranked([...this.#ours.values()]);
    yield* ranked(this.idle());
  }

  async #handOver(
    one: IdleWorktree,
    wanted: WantedWorktree,
    { isOurs, signal }: { readonly isOurs: boolean; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const { commonDir, me } = this.place;
    const { dir, commit, branch, owner } = wanted;
    const { path, note } = one;
    try {
      if (!(await this.#isFit(one, commit, { isOurs, signal }))) throw new Error('not fit');
      wanted.assertHeld?.();
      makeFolders(dirname(dir));
      if (path !== dir) {
        await rmdir(dir).catch(otherwise(undefined));
        await moveWorktree(commonDir, path, dir, signal);
      }
      if (owner !== null) setOwner(dir, owner);
      // Runs the user's reference-transaction hook, as for a new worktree.
      if (branch !== null) await setRef(commonDir, `refs/heads/${branch}`, commit, signal);
      const target = branch === null ? ['--detach', commit] : [branch];
      const how = ['-q', '-f', '--no-recurse-submodules'];
      await git(dir, ['checkout', ...how, ...target], signal, WITHOUT_HOOKS);
      await forgetMoves(dir, signal);
      if (note.kept.length > 0) await this.#clear(dir, { ...note, to: commit, isOurs }, signal);
      this.begin(dir, Date.now());
      if (note.asked) this.#asked.add(dir);
      forgetIdle(dir, me);
    } catch (error) {
      await this.#discard(existsSync(path) ? path : dir, one.entry);
      rethrowBug(error);
      if (signal.aborted) throw error;
      return false;
    }
    await runPostCheckout(commonDir, { path: dir, commit }, signal);
    return true;
  }

  async #isFit(
    { path, note }: IdleWorktree,
    commit: Sha,
    { isOurs, signal }: { readonly isOurs: boolean; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const { commonDir } = this.place;
    const changed = await filesBetween(commonDir, note.commit, commit, signal);
    // Other attributes write the same content as another file.
    if (changed.some((file) => basename(file) === '.gitattributes')) return false;
    if (isOurs) return true;
    const since = momentOf(note.at);
    if (isSetBack(since)) return false;
    const known = { since, bare: false, flagged: null };
    return (await restore({ dir: path, keep: note.kept, ...known }, signal)) !== null;
  }

  /** Kept files stay only where this plan keeps them and git ignores them at the new commit. */
  async #clear(
    dir: string,
    { commit, to, isOurs }: { readonly commit: Sha; readonly to: Sha; readonly isOurs: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { commonDir, keepFiles } = this.place;
    const changed = await filesBetween(commonDir, commit, to, signal);
    if (!isOurs || changed.some((file) => basename(file) === '.gitignore')) {
      const keep = keepFiles.length === 0 ? [] : await ignoredMatching(dir, keepFiles, signal);
      await removeUntracked(dir, keep, signal);
    }
    const setup = setupIn(dir);
    if (setup !== null && !isThere(dir, setup)) forgetSetup(dir);
  }

  /** Removes what need not stay for a later run; the rest moves to the pool's folder. */
  async settle(signal: AbortSignal): Promise<void> {
    if (this.place.most === 0) return;
    const { commonDir, folder, run, me } = this.place;
    const idle = this.idle().filter(({ path, note }) => note.run === run || isIn(path, folder));
    const kept = staying(idle, this.place);
    await this.drain(
      idle.map(({ path }) => path).filter((path) => !kept.has(path)),
      signal,
    );
    const moved: IdleWorktree[] = [];
    for (const one of idle.filter(({ path }) => kept.has(path) && !isIn(path, folder))) {
      const taken = claimIdle(commonDir, one, me);
      if (taken === 'broken') await this.#discard(one.path, one.entry);
      if (taken !== 'taken') continue;
      const path = await this.#keepForLater(one, signal).catch(otherwise(null));
      if (path === null) await this.#discard(one.path, one.entry);
      else moved.push({ ...one, path });
    }
    if (moved.length > 0) await pause(SLACK_MS, signal); // A later run sees what is younger.
    for (const { path, note } of moved) {
      forgetIdle(path, me);
      noteIdle(path, { ...note, at: Date.now() });
    }
  }

  /** Moves one to the pool's folder and checks out the files that restoring removed. */
  async #keepForLater({ path, note }: IdleWorktree, signal: AbortSignal): Promise<string> {
    const { commonDir } = this.place;
    const to = this.#reservePlace();
    await rmdir(to); // Into a folder that is there git would move it.
    await moveWorktree(commonDir, path, to, signal);
    await git(to, ['checkout', '-q', '-f', '--detach', note.commit], signal, WITHOUT_HOOKS);
    return to;
  }

  /** Removes idle worktrees that are not claimed meanwhile; returns how many. */
  async drain(paths: readonly string[], signal: AbortSignal): Promise<number> {
    const { commonDir, folder, me } = this.place;
    let removed = 0;
    for (const one of this.idle().filter(({ path }) => paths.includes(path))) {
      const taken = claimIdle(commonDir, one, me);
      if (taken === 'lost') continue;
      const drop = () => dropWorktree(commonDir, one.path, signal);
      if (taken === 'broken') await this.#discard(one.path, one.entry);
      else if (!(await drop().then(() => true, otherwise(false)))) {
        await this.#discard(one.path, one.entry);
      }
      if (existsSync(dirname(one.path))) await sweepRemoved(dirname(one.path), signal);
      removed += 1;
    }
    if (existsSync(folder)) await sweepRemoved(folder, signal);
    await this.#removeEmptyFolders();
    return removed;
  }

  /** Removes one to free space; returns where it was, or null. */
  async shed(signal: AbortSignal): Promise<string | null> {
    for (const { path } of this.idle().toReversed()) {
      if ((await this.drain([path], signal)) > 0) return path;
    }
    return null;
  }

  /** Most recent first. */
  idle(): readonly IdleWorktree[] {
    return idleIn(this.place.commonDir, this.place.me);
  }

  async #note(
    dir: string,
    what: { readonly commit: Sha; readonly kept: readonly string[]; readonly left: TouchedFiles },
    signal: AbortSignal,
  ): Promise<IdleWorktree | null> {
    const { run, disk } = this.place;
    const { commit, kept, left } = what;
    const bytes = left.bytes + (await diskUse(dir, kept, signal));
    const all = disk === null ? 0 : this.idle().reduce((sum, { note }) => sum + note.bytes, bytes);
    if (disk !== null && all > disk) return null;
    const asked = this.#asked.delete(dir);
    const note: Idle = { commit, run, at: Date.now(), files: left.files, bytes, asked, kept };
    return noteIdle(dir, note);
  }

  /** Makes an empty folder in the pool that no other process uses. */
  #reservePlace(): string {
    const { folder } = this.place;
    for (let number = 1; ; number += 1) {
      const path = join(folder, `${number}`);
      makeFolders(folder);
      if (!existsSync(path) && isMade(path)) return path;
    }
  }

  /** Where git does not know the worktree, the folder is deleted and the entry pruned. */
  async #discard(path: string, entry: string): Promise<void> {
    const { commonDir } = this.place;
    const remove = () => removeWorktree(commonDir, path, AbortSignal.timeout(CLEAN_UP_MS));
    if (!existsSync(join(path, '.git'))) mendLink(commonDir, path); // Git would not remove it.
    await remove().catch(async (error: unknown) => {
      rethrowBug(error);
      // Another folder may have taken its place; in a copy of the repository it is the original's.
      const isOurs = isLinked(commonDir, path);
      if (isOurs) await rm(path, { recursive: true, force: true }).catch(otherwise(undefined));
      forgetNotes(entry);
      await remove().catch(otherwise(undefined));
    });
  }

  async #removeEmptyFolders(): Promise<void> {
    const { folder } = this.place;
    for (const each of [folder, dirname(folder)]) await rmdir(each).catch(otherwise(undefined));
  }
}

function isVacant(dir: string): boolean {
  return !existsSync(dir) || readdirSync(dir).length === 0;
}

function isMade(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    return false;
  }
}

function isIn(path: string, folder: string): boolean {
  return dirname(path) === folder;
}

/** New worktrees of such a repository get settings that a pooled one would lack. */
function hasOwnSettings(commonDir: string): boolean {
  return ['config.worktree', 'info/sparse-checkout'].some((name) =>
    existsSync(join(commonDir, name)),
  );
}

/** Below this a new workspace takes less than a tenth of a second. */
export const WORTH_KEEPING_FILES = 1_000;

/**
 * The paths of those that stay for a later run; `idle` is sorted, most recent first. At most `later`; none
 * where a new one is cheap, unless the user has set a number. Those made by `pool warm` stay
 * regardless, unless the user has set a lower number. One that a process works in does not stay: a
 * program that its task left behind would write into the next task's files. It is not killed: it may be
 * the user's shell.
 */
export function staying(
  idle: readonly Pick<IdleWorktree, 'path' | 'note'>[],
  { later, small }: Pick<PoolPlace, 'later' | 'small'>,
): ReadonlySet<string> {
  const inUse = idle.length === 0 ? [] : foldersInUse();
  const isUsed = (folder: string): boolean =>
    inUse.some((path) => `${path}/`.startsWith(`${realOf(folder)}/`));
  const worth = idle.filter(
    ({ path, note }) => (small || note.asked || note.files >= WORTH_KEEPING_FILES) && !isUsed(path),
  );
  const asked = small ? [] : worth.filter(({ note }) => note.asked);
  const others = worth.filter((one) => !asked.includes(one));
  const room = Math.max(0, later - asked.length);
  return new Set([...asked, ...others.slice(0, room)].map(({ path }) => path));
}
