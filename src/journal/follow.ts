/**
 * Following a run from another process: its entries, soon after they were committed.
 *
 * - Every entry after `after` comes exactly once and in order.
 * - A batch comes within about POLL_MS of its commit. While nothing is committed, one pragma is all
 *   that is read.
 * - It ends when the run has an outcome and no engine, or when the signal says so; never in
 *   between: outcome, engine and entries are looked at in one snapshot. With `endsWithEngine` it
 *   also ends where no engine is left: one that was killed records no outcome.
 * - It may begin before the run, or even the database, exists.
 */

import { pause } from '../base/pause.ts';
import { isAlive, thisHost } from '../base/process-identity.ts';
import type { Entry } from '../model/event.ts';
import { type Database, openForReading } from './database.ts';
import { outcomeOf, readEntries } from './journal.ts';
import { leaseHolder } from './lease.ts';

const POLL_MS = 50;

/** The entries after `after` in batches, as they come, until the run is over or `signal` aborts. */
export async function* follow(
  stateDir: string,
  run: string,
  after: number,
  signal: AbortSignal,
  { endsWithEngine = false }: { readonly endsWithEngine?: boolean } = {},
): AsyncGenerator<readonly Entry[], void, undefined> {
  let db: Database | null = null;
  let version = -1;
  let view: View = { entries: [], finished: false, over: false };
  let seen = after;
  try {
    while (!signal.aborted) {
      db ??= openForReading(stateDir);
      const current = db?.dataVersion() ?? -1;
      // An engine that dies commits nothing, such as between `run.finished` and its release.
      if (db !== null && (current !== version || view.finished || endsWithEngine)) {
        version = current;
        view = look(db, run, seen, endsWithEngine);
        seen = view.entries.at(-1)?.seq ?? seen;
        if (view.entries.length > 0) yield view.entries;
        if (view.over) return;
      }
      await pause(POLL_MS, signal);
    }
  } finally {
    db?.close();
  }
}

interface View {
  readonly entries: readonly Entry[];
  /** The run has an outcome. */
  readonly finished: boolean;
  /** No engine is left that could add anything. */
  readonly over: boolean;
}

function look(db: Database, run: string, after: number, endsWithEngine: boolean): View {
  return db.snapshot(() => {
    const finished = outcomeOf(db, run) !== null;
    const view = { host: thisHost(), now: Date.now(), isAlive };
    const over = (finished || endsWithEngine) && leaseHolder(db, run, view) === null;
    return { entries: readEntries(db, run, after), finished, over };
  });
}
