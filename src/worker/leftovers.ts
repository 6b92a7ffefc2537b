/** What a dead engine left running: agents outlive it, and no second one may work beside them. */

import { OperationalError } from '../base/errors.ts';
import { endMarked } from '../process/reap.ts';
import { sweepScratch } from '../process/scratch.ts';

/** Ends every process that still carries a mark of the run, and sweeps up after them. */
export async function endLeftovers(run: string, signal: AbortSignal): Promise<void> {
  const left = await endMarked(`${run}/`, signal);
  if (left.length === 0) return sweepScratch(run);
  const pids = left.map(({ pid }) => pid).join(', ');
  throw new OperationalError(`Processes of the interrupted run could not be ended: ${pids}.`, {
    remedy: `End them yourself (kill -9 ${pids.replaceAll(',', '')}), then resume again.`,
  });
}
