/** The words of a pool: where it is and what it may hold, what it gets, gives and has in hand. */

import type { Cone } from '../git/sparse.ts';
import type { Sha } from '../model/plan.ts';
import type { Claimant } from './idle.ts';
import type { Setup } from './setup.ts';

export interface PoolPlace {
  readonly commonDir: string;
  readonly folder: string;
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

/** What became of a workspace that was to be made ahead of any task. */
export type Added =
  | 'added'
  /** New worktrees of the repository begin with settings that a pooled one would not have. */
  | 'own-settings'
  /** They are never used twice. */
  | 'submodules'
  /** It is not what its commit says even when it is new: a filter may write other files. */
  | 'unclean'
  /** More than `disk` allows. */
  | 'disk'
  /** All slots are taken. */
  | 'full';

export interface ToPut {
  /** Where HEAD is. */
  readonly commit: Sha;
  /** It holds nothing beyond that, not even ignored files. */
  readonly pristine: boolean;
  /** That is known by all the times of its files, to the microsecond. */
  readonly isExact?: boolean;
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
  /** The folders that are to be checked out, where not all are. */
  readonly cone?: Cone | null;
  /** Throws where the run is another engine's by now: the workspace then stays where it was. */
  readonly assertHeld?: () => void;
}

/** A workspace in our hands that was wiped. */
export interface Claim {
  readonly claimed: string;
  /** Where its HEAD is. */
  readonly at: Sha;
  /** Nobody can have touched it since. */
  readonly untouched: boolean;
  readonly wipedAt: number;
  /** It holds no file but those of its commit. */
  readonly bare: boolean;
  /** Somebody asked for it ahead of a run. */
  readonly asked: boolean;
}

/** One that has not waited in a slot. */
export interface Free extends Claim {
  /** What it takes on the disk besides its commit, in bytes. */
  readonly extra: number;
}
