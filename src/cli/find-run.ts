/** The run a command is about, named by the beginning of its id or simply the newest. */

import { UserError } from '../base/errors.ts';
import type { Database } from '../journal/database.ts';
import { isAlive, leaseHolder, thisHost } from '../journal/lease.ts';
import { findRun } from '../journal/log.ts';

/** Its full id, or an error that says what there is. */
export function runNamed(db: Database, prefix: string | undefined): string {
  const found = findRun(db, prefix ?? null);
  switch (found.kind) {
    case 'found':
      return found.run;
    case 'none':
      throw noRun(prefix);
    case 'ambiguous': {
      const shown = found.runs.slice(0, 5).join(', ');
      throw new UserError(`Several runs begin with ${prefix}: ${shown}.`, 'Give more of the id.');
    }
  }
}

/** The error for a run that is not there. */
export function noRun(prefix: string | undefined): UserError {
  const what =
    prefix === undefined ? 'No run yet in this repository.' : `There is no run ${prefix}.`;
  return new UserError(
    what,
    prefix === undefined ? 'Start one: landfast run PLAN' : 'landfast runs',
  );
}

/** Whether an engine is working on the run now. */
export function isLive(db: Database, run: string): boolean {
  return leaseHolder(db, run, { host: thisHost(), now: Date.now(), isAlive }) !== null;
}
