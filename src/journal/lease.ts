/**
 * One engine per run: a lease with a fencing token, in the same database as the journal.
 *
 *   free ──acquire──► held ──release──► free        each acquire: token + 1
 *                      └── its owner died, or is far away and silent for 30 s ──► free
 *
 *   L1. A run has one row, which stays when the lease is released: a token is never given twice.
 *       Only that of a dead engine whose run never began is dropped.
 *   L2. On this host a lease lives as long as its process, which is known by pid *and* start: a
 *       reused pid is not mistaken for the owner, and a suspended laptop loses nothing.
 *   L3. Whoever writes for a run checks its token in the same transaction (`assertLease`), so an
 *       engine that was thought dead and wakes up again cannot write.
 */

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { OperationalError } from '../base/errors.ts';
import type { Database } from './database.ts';

/** How long an engine on another host may be silent; renew at least three times as often. */
export const LEASE_MS = 30_000;

/** A process, for sure: a pid alone may have been given to another one. */
export interface Owner {
  readonly pid: number;
  /** From `processStart`; null where the system does not tell. */
  readonly start: string | null;
  readonly host: string;
}

/** The right to write for a run. */
export interface Lease {
  readonly run: string;
  readonly token: number;
}

export type LeaseAnswer =
  | ({ readonly kind: 'held' } & Lease)
  | { readonly kind: 'busy'; readonly owner: Owner };

/** How to tell whether an owner still lives. */
export interface Liveness {
  readonly now: number;
  /** Asked only about processes of this host. */
  readonly isAlive: (owner: Owner) => boolean;
}

/** Another engine has this run now. */
export class LeaseLostError extends OperationalError {
  override readonly name = 'LeaseLostError';

  constructor(run: string) {
    super(`Another engine has taken over run ${run}; this one must stop.`, {
      remedy: '`landfast status` shows the run as it goes on.',
    });
  }
}

/** Makes `owner` the only engine of the run, or says who is. */
export function acquireLease(
  db: Database,
  run: string,
  owner: Owner,
  liveness: Liveness,
): LeaseAnswer {
  return db.transaction(() => {
    const holder = leaseHolder(db, run, { ...liveness, host: owner.host });
    if (holder !== null) return { kind: 'busy', owner: holder };
    const token = (readLease(db, run)?.token ?? 0) + 1;
    db.run(
      `INSERT INTO leases (run, token, pid, start, host, renewed_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (run) DO UPDATE SET token = excluded.token, pid = excluded.pid,
         start = excluded.start, host = excluded.host, renewed_at = excluded.renewed_at`,
      run,
      token,
      owner.pid,
      owner.start,
      owner.host,
      liveness.now,
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

/** The engine that runs this run now, as seen from `host`; null where there is none. */
export function leaseHolder(
  db: Database,
  run: string,
  view: Liveness & { readonly host: string },
): Owner | null {
  const row = readLease(db, run);
  if (row === undefined || row.pid === null) return null;
  const owner = { pid: row.pid, start: row.start, host: row.host };
  const lives =
    owner.host === view.host ? view.isAlive(owner) : view.now - row.renewed_at <= LEASE_MS;
  return lives ? owner : null;
}

/**
 * Drops the leases of engines that died before the first fact of their run, and names those runs:
 * nobody will ever resume them.
 */
export function dropUnborn(
  db: Database,
  view: Liveness & { readonly host: string },
): readonly string[] {
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

/** This process as the owner of a lease. */
export function thisProcess(): Owner {
  return { pid: process.pid, start: processStart(process.pid), host: thisHost() };
}

/** The name of the place whose pids mean something here: the host, or one container on it. */
export function thisHost(): string {
  try {
    const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
    return namespace === INITIAL_PID_NAMESPACE ? hostname() : `${hostname()}#${namespace}`;
  } catch {
    return hostname();
  }
}

/** Fixed in the Linux kernel (PROC_PID_INIT_INO); every container has another one. */
const INITIAL_PID_NAMESPACE = '4026531836';

/** Whether this very process, not a later one with its pid, is alive on this host. */
export function isAlive(owner: Owner): boolean {
  const start = processStart(owner.pid);
  if (start !== null && owner.start !== null) return start === owner.start;
  try {
    process.kill(owner.pid, 0);
    // It answers but has no start: a zombie, unless this system has no /proc at all.
    return owner.start === null || processStart(process.pid) === null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // It lives, as somebody else.
  }
}

/**
 * When a process began: the boot and the clock ticks since, an opaque text to compare. Null where
 * it is dead (a zombie, too) or where there is no /proc.
 */
export function processStart(pid: number): string | null {
  try {
    // `pid (name) state ppid … start`: the name may hold spaces and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X' || ticks === undefined) return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${ticks}`;
  } catch {
    return null;
  }
}
