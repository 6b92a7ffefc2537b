/** Ends live runs whose things somebody wants: cancelled, their work kept, then waited for. */

import { setTimeout as sleep } from 'node:timers/promises';
import { OperationalError } from '../base/errors.ts';
import { openForReading } from '../journal/database.ts';
import { isLive } from './find-run.ts';
import type { Place } from './place.ts';
import { runToSteer, send } from './steer.ts';

const LOOK_MS = 100;
const PATIENCE_MS = 120_000;

/** Cancels a run and returns when its engine has ended. */
export async function endRun(place: Place, run: string, signal: AbortSignal): Promise<void> {
  const steered = runToSteer(place, run);
  if (steered?.live !== true) return;
  await send(steered, { kind: 'stop', mode: 'cancel', why: 'Cancelled by landfast cleanup.' });
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  using db = openForReading(steered.place.stateDir);
  while (db !== null && isLive(db, run)) {
    if (patience.aborted) {
      throw new OperationalError(`Run ${run} is cancelled, but its engine has not ended yet.`, {
        remedy: 'See what it does: landfast status',
      });
    }
    await sleep(LOOK_MS);
  }
}
