/**
 * The runs of a repository as any process sees them: which one is meant, how it stands, and what is
 * recorded next.
 */

import { UserError } from '../base/errors.ts';
import { isAlive, thisHost } from '../base/process-identity.ts';
import { recover } from '../engine/recover.ts';
import { type Database, openForReading } from '../journal/database.ts';
import { follow } from '../journal/follow.ts';
import { findRun, listRuns, newestRunOf, outcomeOf, readEntries } from '../journal/journal.ts';
import { leaseHolder, newestLive } from '../journal/lease.ts';
import type { Entry, Event } from '../model/event.ts';
import { apply, fold } from '../model/fold.ts';
import type { RunState } from '../model/state.ts';
import { type Place, requireRepository } from './place.ts';

export interface RunView {
  readonly place: Place;
  readonly run: string;
  readonly state: RunState;
  /** Whether an engine is working on it now. */
  readonly live: boolean;
}

/**
 * The run that is named by the beginning of its id, else the live one, else the one made last. Null
 * where none is named and nothing has run yet.
 */
export function viewRun(place: Place, prefix: string | undefined): RunView | null {
  using db = openForReading(place.stateDir);
  const run = runNamed(db, prefix, place);
  return db === null || run === null ? null : viewIn(db, run, place);
}

/** All runs, the newest first. */
export function allRuns(place: Place): readonly RunView[] {
  using db = openForReading(place.stateDir);
  if (db === null) requireRepository(place);
  return db === null ? [] : listRuns(db).map(({ run }) => viewIn(db, run, place));
}

/** The live run of the plan of this name, else the one made last; null before the first. */
export function viewRunOfPlan(place: Place, name: string): RunView | null {
  using db = openForReading(place.stateDir);
  if (db === null) return null;
  const rows = listRuns(db).filter(({ planName }) => planName === name);
  const row = rows.find(({ run }) => isLive(db, run)) ?? rows[0];
  return row === undefined ? null : viewIn(db, row.run, place);
}

/** The id of the last run of exactly this plan; null where there is none. */
export function lastRunOf({ stateDir }: Place, planHash: string): string | null {
  using db = openForReading(stateDir);
  return db === null ? null : newestRunOf(db, planHash);
}

function viewIn(db: Database, run: string, place: Place): RunView {
  return { place, run, state: readState(db, run), live: isLive(db, run) };
}

export function entriesOf({ stateDir }: Place, run: string): readonly Entry[] {
  using db = openForReading(stateDir);
  return db === null ? [] : readEntries(db, run, 0);
}

/** Why following a run ended: it is over, no engine drives it any more, or the signal aborted. */
export type Followed = 'over' | 'abandoned' | 'stopped';

/** Hands over batches of entries, the first ones too, until it ends or `onEntries` answers `enough`. */
export async function followRun(
  { stateDir }: Place,
  run: string,
  onEntries: (entries: readonly Entry[]) => unknown,
  signal: AbortSignal,
): Promise<Followed> {
  for await (const entries of follow(stateDir, run, 0, signal, { endsWithEngine: true })) {
    if ((await onEntries(entries)) === 'enough') return 'over';
  }
  if (signal.aborted) return 'stopped';
  using db = openForReading(stateDir);
  return db !== null && outcomeOf(db, run) === null ? 'abandoned' : 'over';
}

/** The state of a run, from its journal; one whose engine died counts as interrupted. */
export function readState(db: Database, run: string): RunState {
  const live = isLive(db, run); // Asked first: an engine that ends now has recorded all it did.
  const state = fold(readEntries(db, run, 0));
  return live || state.outcome !== null ? state : cutOff(state);
}

/** Adds what a dead engine could not record: nothing is in progress any more. */
function cutOff(left: RunState): RunState {
  let state = left;
  const add = (event: Event): void => {
    state = apply(state, { seq: state.seq + 1, at: state.at, event });
  };
  for (const fact of recover(state).facts) add(fact);
  for (const { task } of state.queue.toReversed()) {
    add({ type: 'merge.withdrawn', task, ahead: null, why: 'The engine was ended.' });
  }
  add({ type: 'run.finished', outcome: 'interrupted' });
  return state;
}

/** The full id of the run that `viewRun` means. */
export function runNamed(
  db: Database | null,
  prefix: string | undefined,
  place: Place,
): string | null {
  const live = prefix === undefined && db !== null ? newestLive(db, view()) : null;
  if (live !== null) return live;
  const found = db === null ? { kind: 'none' as const } : findRun(db, prefix ?? null);
  switch (found.kind) {
    case 'found':
      return found.run;
    case 'none':
      if (db === null) requireRepository(place); // Outside of git, runs of read tasks are enough.
      if (prefix === undefined) return null;
      throw noSuchRun(prefix);
    case 'ambiguous': {
      const shown = found.runs.slice(0, 5).join(', ');
      throw new UserError(`Several runs begin with ${prefix}: ${shown}.`, 'Give more of the id.');
    }
  }
}

export function noSuchRun(prefix: string): UserError {
  return new UserError(`There is no run ${prefix}.`, 'landfast runs lists them.');
}

/** Whether an engine is working on the run now. */
export function isLive(db: Database, run: string): boolean {
  return leaseHolder(db, run, view()) !== null;
}

function view(): Parameters<typeof newestLive>[1] {
  return { host: thisHost(), now: Date.now(), isAlive };
}
