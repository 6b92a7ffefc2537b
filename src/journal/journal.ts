/**
 * The journal of a run: its engine appends, every process reads.
 *
 * - An entry, once returned by `append`, survives the death of the process or the machine. Entries
 *   are never changed or removed, and `seq` has no gaps.
 * - Only the holder of the run's lease appends; the token is checked in the same transaction.
 * - A run exists from its first entry on, which is `run.started`. All else that is known of it is
 *   read from its entries. The newest run is the one made last (`rowid`), whatever the clock said.
 * - No secret is stored: every event is masked here (mask.ts).
 */

import { assert } from '../base/assert.ts';
import type { Entry, Event, RunOutcome } from '../model/event.ts';
import type { Database } from './database.ts';
import { assertLease, type Lease } from './lease.ts';
import { type Mask, maskedEvent } from './mask.ts';

/** The engine's side of a run. */
export class Journal {
  readonly run: string;
  readonly #db: Database;
  readonly #lease: Lease;
  readonly #mask: Mask;
  readonly #masked = new WeakSet<Event>();
  /** The last entry: no other process adds one while the lease is held. */
  #last: number;

  private constructor(db: Database, lease: Lease, mask: Mask, last: number) {
    this.run = lease.run;
    this.#db = db;
    this.#lease = lease;
    this.#mask = mask;
    this.#last = last;
  }

  /** The journal of a new run. Nothing is stored before the first `append`. */
  static create(db: Database, lease: Lease, mask: Mask): Journal {
    assert(lastSeq(db, lease.run) === 0, `run ${lease.run} exists already`);
    return new Journal(db, lease, mask, 0);
  }

  /** The journal of a run that is resumed. */
  static open(db: Database, lease: Lease, mask: Mask): Journal {
    const last = lastSeq(db, lease.run);
    assert(last > 0, `there is no run ${lease.run}`);
    return new Journal(db, lease, mask, last);
  }

  /** The event as it is stored: without secrets. */
  masked(event: Event): Event {
    if (this.#masked.has(event)) return event;
    const masked = maskedEvent(event, this.#mask);
    this.#masked.add(masked);
    return masked;
  }

  /** Records facts. Throws a LeaseLostError, and records nothing, when another engine took over. */
  append(events: readonly Event[], at: number): readonly Entry[] {
    if (events.length === 0) return [];
    const entries = events.map((event, index) => {
      return { seq: this.#last + 1 + index, at, event: this.masked(event) };
    });
    this.#db.transaction(() => {
      assertLease(this.#db, this.#lease);
      for (const entry of entries) insert(this.#db, this.run, entry);
    });
    this.#last += entries.length;
    return entries;
  }

  read(after: number): Entry[] {
    return readEntries(this.#db, this.run, after);
  }
}

function lastSeq(db: Database, run: string): number {
  const sql = 'SELECT max(seq) AS seq FROM entries WHERE run = ?';
  return db.get<{ seq: number | null }>(sql, run)?.seq ?? 0;
}

function insert(db: Database, run: string, { seq, at, event }: Entry): void {
  assert((seq === 1) === (event.type === 'run.started'), `entry ${seq} is ${event.type}`);
  if (event.type === 'run.started') {
    const sql = 'INSERT INTO runs (run, plan_name, started_at) VALUES (?, ?, ?)';
    db.run(sql, run, event.plan.name, at);
  }
  const sql = 'INSERT INTO entries (run, seq, at, event) VALUES (?, ?, ?, ?)';
  db.run(sql, run, seq, at, JSON.stringify(event));
}

/** The entries of a run with a greater sequence number, in order. */
export function readEntries(db: Database, run: string, after: number): Entry[] {
  const sql = 'SELECT seq, at, event FROM entries WHERE run = ? AND seq > ? ORDER BY seq';
  const rows = db.all<{ seq: number; at: number; event: string }>(sql, run, after);
  return rows.map(({ seq, at, event }) => ({ seq, at, event: JSON.parse(event) as Event }));
}

/** A run in a list. */
export interface RunRow {
  readonly run: string;
  readonly planName: string;
  readonly startedAt: number;
  readonly lastAt: number;
  readonly entries: number;
  /** How it ended; null while it runs, or waits to be resumed. */
  readonly outcome: RunOutcome | null;
}

/** Every run of the repository, the newest first. Two index look-ups a run, however long it was. */
export function listRuns(db: Database): RunRow[] {
  return db.all<RunRow>(`
    SELECT run, plan_name AS planName, started_at AS startedAt,
      (SELECT at FROM entries WHERE entries.run = runs.run ORDER BY seq DESC LIMIT 1) AS lastAt,
      (SELECT max(seq) FROM entries WHERE entries.run = runs.run) AS entries,
      (${END_OF_RUN} AND entries.run = runs.run ORDER BY seq DESC LIMIT 1) AS outcome
    FROM runs ORDER BY rowid DESC`);
}

/** How the run ended; null while it runs. */
export function outcomeOf(db: Database, run: string): RunOutcome | null {
  const sql = `${END_OF_RUN} AND run = ? ORDER BY seq DESC LIMIT 1`;
  return db.get<{ outcome: RunOutcome | null }>(sql, run)?.outcome ?? null;
}

/** A resumed run has no outcome again: its newest such entry holds none. */
const END_OF_RUN = `
  SELECT json_extract(event, '$.outcome') AS outcome
  FROM entries INDEXED BY entries_of_ends
  WHERE type IN ('run.finished', 'run.resumed')`;

/** The newest run of exactly this plan text; null where there is none. */
export function newestRunOf(db: Database, planHash: string): string | null {
  const sql = `SELECT runs.run FROM runs JOIN entries ON entries.run = runs.run AND seq = 1
    WHERE json_extract(event, '$.planHash') = ? ORDER BY runs.rowid DESC LIMIT 1`;
  return db.get<{ run: string }>(sql, planHash)?.run ?? null;
}

export type FoundRun =
  | { readonly kind: 'found'; readonly run: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous'; readonly runs: readonly string[] };

/** The run whose id is, or alone begins with, `prefix`; with null the newest one. */
export function findRun(db: Database, prefix: string | null): FoundRun {
  const sql = 'SELECT run FROM runs WHERE substr(run, 1, length(?1)) = ?1 ORDER BY rowid DESC';
  const runs = db.all<{ run: string }>(sql, prefix ?? '').map(({ run }) => run);
  const [newest] = runs;
  if (newest === undefined) return { kind: 'none' };
  if (prefix === null || runs.length === 1) return { kind: 'found', run: newest };
  if (runs.includes(prefix)) return { kind: 'found', run: prefix };
  return { kind: 'ambiguous', runs };
}
