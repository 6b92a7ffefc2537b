/**
 * withLease: the right to work on a run, from the first look at it until everything is cleaned up.
 * Without the lease nothing is written or removed. A lost lease aborts the work; a busy database
 * loses nothing until the lease would have expired for others.
 */

import { OperationalError } from '../base/errors.ts';
import { isAlive, type ProcessIdentity, thisProcess } from '../base/process-identity.ts';
import type { Database } from '../journal/database.ts';
import {
  acquireLease,
  dropUnborn,
  type Lease,
  RENEW_MS,
  Renewal,
  releaseLease,
  renewLease,
} from '../journal/lease.ts';
import { endLeftovers } from '../worker/worker.ts';

/** Does the work under the run's lease; throws if another process has it. */
export async function withLease<T>(
  { db, run }: { readonly db: Database; readonly run: string },
  work: (lease: Lease, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const owner = thisProcess();
  await sweepUnborn(db, owner, signal);
  const answer = acquireLease(db, run, owner, { now: Date.now(), isAlive });
  if (answer.kind === 'busy') {
    throw new OperationalError(`Run ${run} is already driven by process ${answer.owner.pid}.`, {
      remedy: 'Watch it with `landfast status`, or end it with `landfast cancel`.',
    });
  }
  const lost = new AbortController();
  const renewal = keepRenewing(db, answer, lost);
  try {
    const result = await work(answer, AbortSignal.any([signal, lost.signal]));
    lost.signal.throwIfAborted();
    return result;
  } finally {
    clearInterval(renewal);
    giveBack(db, answer);
  }
}

/** If the database fails, our exit frees the lease; the earlier failure is the one to report. */
function giveBack(db: Database, lease: Lease): void {
  try {
    releaseLease(db, lease);
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
  }
}

function keepRenewing(db: Database, lease: Lease, lost: AbortController): NodeJS.Timeout {
  const renew = () => renewLease(db, lease, Date.now());
  const renewal = new Renewal(renew, () => performance.now());
  return setInterval(() => {
    const why = renewal.tick();
    if (why !== null) lost.abort(why);
  }, RENEW_MS);
}

/** Cleans up after engines that died before their run's first fact: such runs are never resumed. */
async function sweepUnborn(
  db: Database,
  owner: ProcessIdentity,
  signal: AbortSignal,
): Promise<void> {
  const view = { now: Date.now(), isAlive, host: owner.host };
  for (const run of dropUnborn(db, view)) await endLeftovers(run, signal);
}
