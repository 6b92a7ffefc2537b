/**
 * What a task waits for, in words. The scheduler finds the reason (model/wait.ts); this tells it.
 *
 *   W1. Every reason says what would end the wait, and when, where anybody knows.
 */

import { unreachable } from '../base/assert.ts';
import type { Wait } from '../model/wait.ts';
import { brief } from './clean.ts';
import { durationText, nameList } from './format.ts';
import { SHORT_OF } from './outcome.ts';

/** The moment of a view. */
export interface Moment {
  readonly now: number;
  /** A time of day on the user's clock: `14:05`. */
  readonly clock?: (at: number) => string;
}

/** A reason to wait, in a few words. */
export function waitText(wait: Wait, moment: Moment): string {
  switch (wait.kind) {
    case 'stopping':
      return 'the run is stopping';
    case 'paused':
      return 'the run is paused';
    case 'needs':
      return `needs ${nameList(wait.tasks)}`;
    case 'workspace':
      return 'its old workspace is being removed';
    case 'retry':
      return retryText(wait.until, moment);
    case 'limit':
      return `waits: ${brief(wait.agent, 40)} is at its limit until ${timeOf(wait.until, moment)}`;
    case 'probe':
      return `waits: ${brief(wait.agent, 40)} was at its limit, ${brief(wait.task, 60)} tries it first`;
    case 'refusal':
      return `waits: ${brief(wait.agent, 40)} ${REFUSALS[wait.why]}`;
    case 'slot':
      return `a worker slot (${wait.workers} of ${wait.workers} busy)`;
    case 'group':
      return `group ${brief(wait.group, 40)} (${wait.busy} of ${wait.limit} busy)`;
    case 'checkout':
      return `${brief(wait.task, 60)} works in your checkout`;
    case 'scope':
      return `overlaps with ${brief(wait.task, 60)}`;
    case 'room':
      return `${SHORT_OF[wait.of]}: ${brief(wait.why, 160)}`;
    case 'money':
      return 'money: what it is likely to cost is spent or reserved';
    case 'queue':
      return 'waits to land';
    case 'end':
      return 'is given up';
    default:
      return unreachable(wait);
  }
}

/** Whether a reason is worth a line of its own: it may last, and it is about more than its turn. */
export function isNotable(wait: Wait): boolean {
  return ['retry', 'limit', 'probe', 'refusal'].includes(wait.kind);
}

const REFUSALS = {
  auth: 'has no login; sign in, then `landfast retry`',
  billing: 'has no credit; look after it, then `landfast retry`',
} as const;

function retryText(until: number, { now }: Moment): string {
  return until <= now ? 'retry now' : `retry in ${durationText(until - now)}`;
}

const DAY_MS = 86_400_000;

function timeOf(at: number, { now, clock }: Moment): string {
  const iso = new Date(at).toISOString();
  if (clock === undefined) return `${iso.slice(11, 16)} UTC`;
  return at - now < DAY_MS ? clock(at) : `${iso.slice(0, 10)} ${clock(at)}`;
}
