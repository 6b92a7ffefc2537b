/**
 * The run a command is about: named by the beginning of its id, else the one that is live, else the
 * one made last.
 */

import { UserError } from '../base/errors.ts';
import { isAlive, thisHost } from '../base/process-identity.ts';
import type { Database } from '../journal/database.ts';
import { findRun } from '../journal/journal.ts';
import { leaseHolder, newestLive } from '../journal/lease.ts';
import { type Place, requireRepository } from './place.ts';

/** Its full id; null where none is named and nothing has run yet (`tellNoRun`). */
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

/** The error for a run that is not there. */
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
