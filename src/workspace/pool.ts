/**
 * pool: worktrees that are done with, moved to the next task instead of made anew, in this run or a
 * later one.
 *
 *   P1. Whoever gets a worktree sees nothing of the task before: it is restored (restore.ts) before
 *       it waits, and once more if it has waited for another process.
 *   P2. Two engines never have the same one: it is taken by its note (idle.ts).
 *   P3. What is broken, or was half handed over, is removed and made anew: nothing that waits holds
 *       work.
 *   P4. There are never more idle ones than allowed, nor more than the disk is allowed to hold.
 *   P5. Git does the moving: `worktree move`, then `checkout` of a branch at the commit.
 */

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isSetBack, type Moment, momentOf } from '../base/moment.ts';
import { removeUntracked, settleIndex } from '../git/clean.ts';
import { filesBetween } from '../git/diff.ts';
import { git } from '../git/git.ts';
import { runPostCheckout } from '../git/hooks.ts';
import { detachHead, setRef } from '../git/refs.ts';
import type { Cone } from '../git/sparse.ts';
import { ignoredMatching } from '../git/untracked.ts';
import {
  addWorktree,
  dropWorktree,
  FILLING,
  moveWorktree,
  removeWorktree,
  setOwner,
  sweepRemoved,
} from '../git/worktree.ts';
import { isLinked, mendLink } from '../git/worktree-link.ts';
import { forgetNotes } from '../git/worktree-notes.ts';
import type { Sha } from '../model/plan.ts';
import type { Claimant } from './claimant.ts';
import { Coming } from './coming.ts';
import { diskUse } from './disk-use.ts';
import { forgetIdle, type Idle, type IdleWorktree, idleIn, noteIdle, takeIdle } from './idle.ts';
import { forgetInjected } from './inject.ts';
import { forgetMoves, restore } from './restore.ts';
import { staying } from './retention.ts';
import { forgetSetup, isCovered, isThere, type Setup, setupIn } from './setup.ts';
import { type Found, findTouched } from './touched.ts';
import { type Committed, type GitState, gitStateOf, isAsCommitted } from './witness.ts';

export interface PoolPlace {
  readonly commonDir: string;
  /** Where those are that wait for a later run. */
  readonly folder: string;
  readonly run: string;
  /** How many may wait at the same time; 0 turns the pool off. */
  readonly most: number;
  /** How many of them stay for a later run. */
  readonly later: number;
  /** They stay even where making new ones costs next to nothing. */
  readonly small: boolean;
  /** How many bytes all of them may take; null for no limit. */
  readonly disk: number | null;
  /** Ignored files that the next task may find, in git's ignore syntax. */
  readonly keepFiles: readonly string[];
  readonly me: Claimant;
}

/** What became of a worktree that was to be made ahead of any task. */
export type Added =
  | 'added'
  /** New worktrees of the repository begin with settings that a pooled one would not have. */
  | 'own-settings'
  /** They are never used twice. */
  | 'submodules'
  /** More than `disk` allows. */
  | 'disk'
  /** There are as many as may wait. */
  | 'full';

export interface ToPut {
  /** Where HEAD is. */
  readonly commit: Sha;
  /** No file is in it that the commit does not hold, not even an ignored one. */
  readonly bare: boolean;
  /** Git was told not to look at some files; null if unknown. */
  readonly flagged: boolean | null;
  /** The touched files, if they were just looked up. */
  readonly found?: Found | null;
  /** Its set-up, if the next task may use what that made. */
  readonly setup?: Setup | null;
}

export interface ToTake {
  readonly dir: string;
  readonly commit: Sha;
  /** A branch that is made or moved; null for a detached HEAD. */
  readonly branch: string | null;
  /** Whose it becomes. */
  readonly owner: string | null;
  /** The folders that are to be checked out, where not all are: such a one is always new. */
  readonly cone?: Cone | null;
  /** Throws where the run is another engine's by now: nothing is moved then. */
  readonly assertHeld?: () => void;
}

/** All of a worktree is in a commit; what was touched in it before that. */
export interface Held {
  readonly commit: Sha;
  readonly found: Found;
}

const CLEAN_UP_MS = 60_000;

/** A hook is run once, for the task that gets a worktree, which is new to it. */
const WITHOUT_HOOKS = {
  ...FILLING,
  config: { ...FILLING.config, 'core.hooksPath': '/dev/null' },
};

export class Pool {
  readonly place: PoolPlace;
  readonly coming = new Coming();
  /** Since when something may have happened in a worktree that a task has, by where it is. */
  readonly #since = new Map<string, Moment>();
  /** What git kept about it then, and the commit that held all of it since. */
  readonly #given = new Map<string, GitState | null>();
  readonly #committed = new Map<string, Committed>();
  /** Made ahead of a run by `pool warm`. */
  readonly #asked = new Set<string>();
  /** What this engine has put there, by where it is: nobody else has business with it. */
  readonly #ours = new Map<string, IdleWorktree>();

  constructor(place: PoolPlace) {
    this.place = place;
  }

  /** A worktree holds a commit as a checkout has it; a task has it from now on. */
  begin(dir: string, filledAt: number): void {
    this.#since.set(dir, momentOf(filledAt));
    this.#given.set(dir, gitStateOf(dir));
    this.#committed.delete(dir);
  }

  /** Whether index and HEAD are unchanged since then. */
  isGitAsGiven(dir: string): boolean {
    const given = this.#given.get(dir) ?? null;
    return given !== null && given === gitStateOf(dir);
  }

  /** A commit holds all of a worktree as it was at a time; its index hides nothing. */
  commit(dir: string, commit: Sha, stagedAt: number): void {
    this.#committed.set(dir, { commit, at: momentOf(stagedAt) });
  }

  /** The commit that still holds all of a worktree; null where that cannot be said for sure. */
  async heldBy(dir: string, signal: AbortSignal): Promise<Held | null> {
    const [committed, since] = [this.#committed.get(dir), this.sinceOf(dir)];
    if (committed === undefined || since === null) return null;
    const found = await findTouched({ dir, since: since.at, keep: [] }, signal);
    return isAsCommitted(committed, found) ? { commit: committed.commit, found } : null;
  }

  /** Since when something may have happened in a worktree; null if unknown. */
  sinceOf(dir: string): Moment | null {
    return this.#since.get(dir) ?? null;
  }

  /**
   * Lets a worktree that holds nothing of value wait for the next task, where it is; false where it
   * cannot be used again, and is the caller's to remove.
   */
  async put(dir: string, what: ToPut, signal: AbortSignal): Promise<boolean> {
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

  /** Makes a new one at a commit, ahead of any task, or says why it cannot wait for one. */
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
    const noted = left && (await this.#note(path, { commit, kept: [], left }, signal));
    if (noted !== null) return 'added';
    await removeWorktree(commonDir, path, signal);
    await this.#removeEmptyFolders();
    return left === null ? 'submodules' : 'disk';
  }

  /** Moves an idle worktree to a folder, at a commit; false where there is none. */
  async take(wanted: ToTake, signal: AbortSignal): Promise<boolean> {
    if (this.place.most === 0 || hasOwnSettings(this.place.commonDir)) return false;
    if ((wanted.cone ?? null) !== null) return false;
    while (!signal.aborted) {
      if (await this.#takeOne(wanted, signal)) return true;
      if (!(await this.coming.next())) return false;
    }
    return false;
  }

  async #takeOne(wanted: ToTake, signal: AbortSignal): Promise<boolean> {
    const { commonDir, me } = this.place;
    for (const one of this.#candidatesFor(wanted)) {
      if (one.path !== wanted.dir && !isVacant(wanted.dir)) continue; // Git would move it inside.
      const isOurs = this.#ours.delete(one.path);
      const taken = takeIdle(commonDir, one, me);
      if (taken === 'broken') await this.#discard(one.path, one.entry);
      if (taken !== 'taken') continue;
      if (await this.#handOver(one, wanted, { isOurs, signal })) {
        this.coming.guess(one.note.files);
        return true;
      }
    }
    return false;
  }

  /**
   * Our own come first: nobody has to look for them. That which lies there already comes before all
   * others, then those that are at the commit.
   */
  *#candidatesFor({ dir, commit }: ToTake): Iterable<IdleWorktree> {
    const rank = ({ path, note }: IdleWorktree): number =>
      path === dir ? 0 : note.commit === commit ? 1 : 2;
    const ranked = (all: readonly IdleWorktree[]) => [...all].sort((a, b) => rank(a) - rank(b));
    if (isVacant(dir)) yield* ranked([...this.#ours.values()]);
    yield* ranked(this.idle());
  }

  async #handOver(
    one: IdleWorktree,
    wanted: ToTake,
    { isOurs, signal }: { readonly isOurs: boolean; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const { commonDir, me } = this.place;
    const { dir, commit, branch, owner } = wanted;
    const { path, note } = one;
    try {
      if (!(await this.#isFit(one, commit, { isOurs, signal }))) throw new Error('not fit');
      wanted.assertHeld?.();
      mkdirSync(dirname(dir), { recursive: true });
      if (path !== dir) {
        await rmdir(dir).catch(() => undefined);
        await moveWorktree(commonDir, path, dir, signal);
      }
      if (owner !== null) setOwner(dir, owner);
      // The user's hook (reference-transaction) is told of the branch, as for a new worktree.
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
      if (signal.aborted) throw error;
      return false;
    }
    await runPostCheckout(commonDir, { path: dir, commit }, signal);
    return true;
  }

  /** Whether it can be brought to a commit as if it were new there. */
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

  /** What was kept stays only where this plan keeps it, and git ignores it at the new commit. */
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

  /** Lets go what need not wait for a later run; the rest waits in the pool's folder. */
  async settle(signal: AbortSignal): Promise<void> {
    if (this.place.most === 0) return;
    const { commonDir, folder, run, me } = this.place;
    const idle = this.idle().filter(({ path, note }) => note.run === run || isIn(path, folder));
    const kept = staying(idle, this.place);
    await this.drain(
      idle.map(({ path }) => path).filter((path) => !kept.has(path)),
      signal,
    );
    for (const one of idle.filter(({ path }) => kept.has(path) && !isIn(path, folder))) {
      const taken = takeIdle(commonDir, one, me);
      if (taken === 'broken') await this.#discard(one.path, one.entry);
      if (taken !== 'taken') continue;
      await this.#keepForLater(one, signal).catch(() => this.#discard(one.path, one.entry));
    }
  }

  /** Moves one to the pool's folder; what its last task had changed is missing until now. */
  async #keepForLater({ path, note }: IdleWorktree, signal: AbortSignal): Promise<void> {
    const { commonDir, me } = this.place;
    const to = this.#reservePlace();
    await rmdir(to); // Into a folder that is there git would move it.
    await moveWorktree(commonDir, path, to, signal);
    await git(to, ['checkout', '-q', '-f', '--detach', note.commit], signal, WITHOUT_HOOKS);
    forgetIdle(to, me);
    noteIdle(to, { ...note, at: Date.now() });
  }

  /** Removes idle worktrees; says how many. One that somebody takes meanwhile is theirs. */
  async drain(paths: readonly string[], signal: AbortSignal): Promise<number> {
    const { commonDir, folder, me } = this.place;
    let removed = 0;
    for (const one of this.idle().filter(({ path }) => paths.includes(path))) {
      const taken = takeIdle(commonDir, one, me);
      if (taken === 'lost') continue;
      const drop = () => dropWorktree(commonDir, one.path, signal);
      if (taken === 'broken') await this.#discard(one.path, one.entry);
      else await drop().catch(() => this.#discard(one.path, one.entry));
      if (existsSync(dirname(one.path))) await sweepRemoved(dirname(one.path), signal);
      removed += 1;
    }
    if (existsSync(folder)) await sweepRemoved(folder, signal);
    await this.#removeEmptyFolders();
    return removed;
  }

  /** Drops one that waits, for its room; answers with where it was, null where there is none. */
  async shed(signal: AbortSignal): Promise<string | null> {
    for (const { path } of this.idle().toReversed()) {
      if ((await this.drain([path], signal)) > 0) return path;
    }
    return null;
  }

  /** The worktrees that wait, those that became idle last first. */
  idle(): readonly IdleWorktree[] {
    return idleIn(this.place.commonDir, this.place.me);
  }

  async #note(
    dir: string,
    what: { readonly commit: Sha; readonly kept: readonly string[]; readonly left: Found },
    signal: AbortSignal,
  ): Promise<IdleWorktree | null> {
    const { run, disk } = this.place;
    const { commit, kept, left } = what;
    const bytes = left.bytes + (await diskUse(dir, kept, signal));
    if (disk !== null && this.#bytes() + bytes > disk) return null;
    const asked = this.#asked.delete(dir);
    const note: Idle = { commit, run, at: Date.now(), files: left.files, bytes, asked, kept };
    return noteIdle(dir, note);
  }

  #bytes(): number {
    return this.idle().reduce((sum, { note }) => sum + note.bytes, 0);
  }

  /** A folder of the pool that nobody else gets: it is there, and empty. */
  #reservePlace(): string {
    const { folder } = this.place;
    for (let number = 1; ; number += 1) {
      const path = join(folder, `${number}`);
      mkdirSync(folder, { recursive: true });
      if (!existsSync(path) && isMade(path)) return path;
    }
  }

  /** One that git does not know as a worktree is only a folder; then git forgets the other end. */
  async #discard(path: string, entry: string): Promise<void> {
    const { commonDir } = this.place;
    const remove = () => removeWorktree(commonDir, path, AbortSignal.timeout(CLEAN_UP_MS));
    if (!existsSync(join(path, '.git'))) mendLink(commonDir, path); // Git would not remove it.
    await remove().catch(async () => {
      // Another folder may have taken its place; in a copy of the repository it is the original's.
      const isOurs = isLinked(commonDir, path);
      if (isOurs) await rm(path, { recursive: true, force: true }).catch(() => undefined);
      forgetNotes(entry);
      await remove().catch(() => undefined);
    });
  }

  async #removeEmptyFolders(): Promise<void> {
    const { folder } = this.place;
    for (const each of [folder, dirname(folder)]) await rmdir(each).catch(() => undefined);
  }
}

/** Whether nothing is there, or an empty folder. */
function isVacant(dir: string): boolean {
  return !existsSync(dir) || readdirSync(dir).length === 0;
}

function isMade(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function isIn(path: string, folder: string): boolean {
  return dirname(path) === folder;
}

/** New worktrees of such a repository begin with settings that a pooled one would not have. */
function hasOwnSettings(commonDir: string): boolean {
  return ['config.worktree', 'info/sparse-checkout'].some((name) =>
    existsSync(join(commonDir, name)),
  );
}
