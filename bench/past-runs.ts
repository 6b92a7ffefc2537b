/** A repository with a past: a journal of finished runs, written by the journal's own code. */

import { isAlive, thisProcess } from '../src/base/process-identity.ts';
import { openDatabase } from '../src/journal/database.ts';
import { Journal } from '../src/journal/journal.ts';
import { acquireLease, releaseLease } from '../src/journal/lease.ts';
import { NO_SECRETS } from '../src/journal/mask.ts';
import { JournalBuilder, START } from '../test/support/journal-builder.ts';

const TASKS = 10;
const HOUR_MS = 3_600_000;

/** Writes so many finished runs of ten tasks, an hour apart. */
export function writePastRuns(stateDir: string, runs: number): void {
  using db = openDatabase(stateDir);
  // The machine may stop now: nobody would miss these runs.
  db.all('PRAGMA synchronous = OFF');
  const events = finishedRun().entries.map(({ event }) => event);
  const owner = thisProcess();
  for (let nth = 1; nth <= runs; nth += 1) {
    const at = START + nth * HOUR_MS;
    const run = `past-${String(nth).padStart(5, '0')}`;
    const lease = acquireLease(db, run, owner, { now: at, isAlive });
    if (lease.kind !== 'held') throw new Error(`${run} is somebody else's`);
    Journal.create(db, lease, NO_SECRETS).append(events, at);
    releaseLease(db, lease);
  }
}

function finishedRun(): JournalBuilder {
  const ids = Array.from({ length: TASKS }, (_, index) => `task-${index + 1}`);
  const run = new JournalBuilder(ids.map((id) => ({ id })));
  for (const id of ids) run.start(id).use(id, 0.25).finish(id).land(id);
  return run.publish().end('succeeded');
}
