/**
 * One engine per run: a lease with a fencing token, in the same database as the journal.
 *
 *   free ──acquire──► held ──release──► free        each acquire: token + 1
 *                      └── its owner died, or is on another host and silent for 30 s ──► free
 *
 * - A run has one row, which stays when the lease is released: a token is never given twice. Only
 *   that of a dead engine whose run never began is dropped.
 * - On this host a lease lives as long as its process, which is known by pid *and* start: a reused
 *   pid is not mistaken for the owner, and a suspended laptop loses nothing.
 * - A process that writes for a run checks its token in the same transaction (`assertLease`), so an
 *   engine that was presumed dead and wakes up again cannot write.
 */

import { OperationalError } from '../base/errors.ts';
import type { ProcessIdentity } from '../base/process-identity.ts';
import type { Database } from './database.ts';

/** How long an engine on another host may be silent. */
export const LEASE_MS = 30_000;
/** How often an engine renews its lease; at least three times while one lasts. */
export const RENEW_MS = 10_000;

/** The right to write for a run. */
export interface Lease {
  readonly run: string;
  readonly token: number;
}

export type LeaseAnswer =
  | ({ readonly kind: 'held' } & Lease)
  | { readonly kind: 'busy'; readonly owner: ProcessIdentity };

/** How to tell, on a host, whether an owner still lives. */
export interface Liveness {
  readonly host: string;
  readonly now: number;
  /** Asked only about processes of this host. */
  readonly isAlive: (owner: ProcessIdentity) => boolean;
}

/** Another engine has this run now. */
export class LeaseLostError extends OperationalError {
  override readonly name = 'LeaseLostError';

  constructor(run: string) {
    super(`Another engine has taken over run ${run}; this one must stop.`, {
      remedy: '`landfast status` shows the run while it runs.',
    });
  }
}

/** Makes `owner` the only engine of the run, or says who is. */
export function acquireLease(
  db: Database,
  run: string,
  owner: ProcessIdentity,
  liveness: Omit<Liveness, 'host'>,
): LeaseAnswer {
  return db.transaction(() => {
    const holder = leaseHolder(db, run, { ...liveness, host: owner.host });
    if (holder !== null) return { kind: 'busy', owner: holder };
    const token = (readLease(db, run)?.token ?? 0) + 1;
    db.run(
      `INSERT INTO leases (run, token, pid, start, host, renewed_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (run) DO UPDATE SET token = excluded.token, pid = excluded.pid,
         start = excluded.start, host = excluded.host, renewed_at = excluded.renewed_at`,
      ...[run, token, owner.pid, owner.start, owner.host, liveness.now],
    );
    return { kind: 'held', run, token };
  });
}

/** Says that the engine still lives. Throws a LeaseLostError where another one has taken over. */
export function renewLease(db: Database, lease: Lease, now: number): void {
  db.transaction(() => {
    assertLease(db, lease);
    db.run('UPDATE leases SET renewed_at = ? WHERE run = ?', now, lease.run);
  });
}

/** Renews a lease, and so finds out that it is lost. */
export class Renewal {
  readonly #renew: () => void;
  /** A monotonic clock. */
  readonly #passing: () => number;
  #renewedAt: number;

  constructor(renew: () => void, passing: () => number) {
    this.#renew = renew;
    this.#passing = passing;
    this.#renewedAt = passing();
  }

  /** Renews the lease; answers with the error for which the engine has to stop, or null. */
  tick(): unknown {
    try {
      this.#renew();
      this.#renewedAt = this.#passing();
      return null;
    } catch (error) {
      const isOver =
        error instanceof LeaseLostError || this.#passing() - this.#renewedAt > LEASE_MS;
      return isOver ? error : null;
    }
  }
}

/** Gives the run free. Does nothing where the lease is lost already. */
export function releaseLease(db: Database, lease: Lease): void {
  db.run('UPDATE leases SET pid = NULL WHERE run = ? AND token = ?', lease.run, lease.token);
}

/** Throws a LeaseLostError unless the lease is held. Call it inside the transaction it protects. */
export function assertLease(db: Database, lease: Lease): void {
  const sql = 'SELECT 1 FROM leases WHERE run = ? AND token = ? AND pid IS NOT NULL';
  if (db.get(sql, lease.run, lease.token) === undefined) throw new LeaseLostError(lease.run);
}

/** Whether an engine has ever had a run of that name. */
export function isClaimed(db: Database, run: string): boolean {
  return readLease(db, run) !== undefined;
}

/** The engine that runs this run now; null where there is none. */
export function leaseHolder(db: Database, run: string, view: Liveness): ProcessIdentity | null {
  const row = readLease(db, run);
  if (row === undefined || row.pid === null) return null;
  const owner = { pid: row.pid, start: row.start, host: row.host };
  const lives =
    owner.host === view.host ? view.isAlive(owner) : view.now - row.renewed_at <= LEASE_MS;
  return lives ? owner : null;
}

/** The newest run that an engine is driving; null where there is none. */
export function newestLive(db: Database, view: Liveness): string | null {
  const sql = `SELECT run FROM leases JOIN runs USING (run) WHERE pid IS NOT NULL
    ORDER BY runs.rowid DESC`;
  const rows = db.all<{ run: string }>(sql);
  return rows.find(({ run }) => leaseHolder(db, run, view) !== null)?.run ?? null;
}

/**
 * Drops the leases of engines that died before the first fact of their run, and names those runs:
 * they are never resumed.
 */
export function dropUnborn(db: Database, view: Liveness): readonly string[] {
  return db.transaction(() => {
    const sql = 'SELECT run FROM leases WHERE run NOT IN (SELECT run FROM runs)';
    const unborn = db.all<{ run: string }>(sql).map(({ run }) => run);
    const dead = unborn.filter((run) => leaseHolder(db, run, view) === null);
    for (const run of dead) db.run('DELETE FROM leases WHERE run = ?', run);
    return dead;
  });
}

interface LeaseRow {
  readonly token: number;
  readonly pid: number | null;
  readonly start: string | null;
  readonly host: string;
  readonly renewed_at: number;
}

function readLease(db: Database, run: string): LeaseRow | undefined {
  return db.get('SELECT token, pid, start, host, renewed_at FROM leases WHERE run = ?', run);
}
