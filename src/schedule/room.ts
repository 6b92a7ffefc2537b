/**
 * room: whether the machine has room for another attempt. Pure.
 *
 *   S1. What runs is never touched: a shortage only keeps attempts from starting.
 *   S2. A shortage is recorded while it keeps something from starting, and its end, too: whoever
 *       folds the journal can say what tasks wait for.
 */

import type { Event } from '../model/event.ts';
import { LEAST_FREE_BYTES, type Machine, type Shortage, sizeText } from '../model/machine.ts';
import type { RunState, TaskState } from '../model/state.ts';

/** What there is too little of, and how much there is. */
export interface Short {
  readonly of: Shortage;
  readonly why: string;
}

/** Free space has to grow by this much before a run that waited for it goes on. */
const MARGIN = 1.1;

/** What keeps attempts from starting; null where nothing does. */
export function shortageOn({ plan, held }: RunState, machine: Machine): Short | null {
  const { diskFreeBytes: least = LEAST_FREE_BYTES, diskBytes: most } = plan.limits;
  const { diskFreeBytes: free, diskUsedBytes: used } = machine;
  if (free !== null && free < least * (held?.of === 'disk' ? MARGIN : 1)) {
    const why = `${sizeText(free)} are free; at least ${sizeText(least)} have to stay free`;
    return { of: 'disk', why: `${why} (limits.disk_free).` };
  }
  if (most !== undefined && used !== null && used > most) {
    const why = `Workspaces and the data of runs take ${sizeText(used)} of ${sizeText(most)}`;
    return { of: 'disk-budget', why: `${why} (limits.disk).` };
  }
  return null;
}

/** Whether a task cannot start because of it. */
export function keepsBack(short: Short | null, task: TaskState): boolean {
  if (short === null) return false;
  const hasWorkspace = task.workspace === 'live' || task.workspace === 'kept';
  return short.of === 'disk' || !(hasWorkspace || task.spec.mode === 'here');
}

/** The fact that a shortage begins to keep tasks back, or does not any more; null for no change. */
export function turnOf({ held }: RunState, short: Short | null): Event | null {
  if (short === null) return held === null ? null : { type: 'run.eased' };
  return held?.of === short.of ? null : { type: 'run.held', ...short };
}
