/**
 * When what landed is brought to the target branch. Pure.
 *
 * - One publication at a time, and none while the run is stopping.
 * - With `end` it begins when every task is over; with `each` also before, whenever the head has
 *   moved. An early one that is blocked stops nothing: the next head is tried, and the last one
 *   when every task is over.
 * - Only a head that was verified as it is: never one from the middle of a batch.
 * - Where a conflict may hold the run back there is no early one, and none at all once it does.
 * - With `ask` a person approves the head that is published; another head is asked for again.
 * - A publication proves what had landed up to its own head.
 */

import type { PublishEffect } from '../model/effect.ts';
import type { Sha } from '../model/plan.ts';
import { isHeldBack, isOver, type RunState } from '../model/state.ts';
import type { Decision } from './decide.ts';

/** The publication that is due while tasks are open. */
export function publishEarly(state: RunState): readonly Decision[] {
  const { plan, stopping, publish, tasks } = state;
  if (plan.landing.publish !== 'each' || stopping !== null) return [];
  if (plan.landing.onConflict === 'hold') return [];
  // In the middle of a landing the head may be one that was verified only together with the next.
  if (state.landing !== null) return [];
  if (publish.kind === 'running' || [...tasks.values()].every(isOver)) return [];
  if (publish.kind === 'blocked' && publish.head === state.head) return [];
  return publication(state, true);
}

/** The publication that is due when everything else is over. */
export function publishLast(state: RunState): readonly Decision[] {
  const { publish } = state;
  if ((publish.kind === 'blocked' && !publish.early) || isHeldBack(state)) return [];
  const asks = state.plan.landing.publish === 'ask';
  return asks ? approved(state) : publication(state, false);
}

function approved(state: RunState): readonly Decision[] {
  const { publish, head, target } = state;
  if (!isUnpublished(state) || head === null || target === null) return [];
  const isAsked = publish.kind === 'awaiting' || publish.kind === 'declined';
  if (isAsked && publish.head === head) return [];
  if (publish.kind === 'approved' && publish.head === head) return publication(state, false);
  return [{ record: { type: 'publish.awaited', head } }];
}

function publication(state: RunState, early: boolean): readonly Decision[] {
  const { head, target } = state;
  if (!isUnpublished(state) || head === null || target === null) return [];
  const effect = publishEffect(state, head, target);
  const record = { type: 'publish.started', head, ...(early ? { early } : {}) } as const;
  return [{ record, perform: effect }];
}

function isUnpublished({ plan, head, base, publish }: RunState): boolean {
  const { publish: when, strategy } = plan.landing;
  if (when === 'off' || strategy === 'none' || head === base) return false;
  return publish.kind !== 'finished' || publish.head !== head;
}

/** The effect that publishes what has landed; repeated after a crash. */
export function publishEffect(state: RunState, head: Sha, target: string): PublishEffect {
  const { landed: all, tasks, base } = state;
  const later = all.findIndex(({ onto, commit }) => onto === head && commit !== head);
  const landed = all.slice(0, later < 0 ? all.length : later).flatMap((landing) => {
    const work = tasks.get(landing.task)?.work ?? null;
    const { task, onto, commit } = landing;
    return work === null ? [] : [{ task, work, onto, commit }];
  });
  const untold = landed.map(({ task }) => task).filter((task) => !tasks.get(task)?.proved);
  return { kind: 'publish', base: base ?? head, head, target, landed, untold };
}
