/** The part of the fold that is about publishing; fold.ts alone calls it. */

import type { Event } from './event.ts';
import type { Publish, RunState } from './state.ts';

/** Where a publication stands after an event of its own. */
export function publishAfter(
  state: RunState,
  event: Event & { type: 'publish.started' | 'publish.finished' | 'publish.blocked' },
): Publish {
  if (event.type === 'publish.started') {
    return { kind: 'running', head: event.head, early: event.early === true };
  }
  const { head = state.head, early = false } =
    state.publish.kind === 'running' ? state.publish : {};
  if (event.type === 'publish.blocked') {
    return { kind: 'blocked', head, early, why: event.why, remedy: event.remedy };
  }
  const { type: _, ...how } = event;
  return { kind: 'finished', head, ...how };
}
