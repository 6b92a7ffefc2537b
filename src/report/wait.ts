/**
 * What a task waits for, told from the state alone. The scheduler decides; this only explains.
 *
 *   W1. The limits looked at are those of the scheduler: needs, room on the machine, group,
 *       workers, the user's checkout, scopes, budget. The first that holds is named, the one a user can do most about first.
 */

import type { Shortage } from '../model/machine.ts';
import { overlaps } from '../model/scope.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { costOf, isMet } from '../model/state.ts';
import { brief } from './clean.ts';
import { durationText, nameList } from './format.ts';
import { SHORT_OF } from './outcome.ts';

/** Who is busy now; computed once for all rows of a view. */
export interface Crowd {
  readonly running: readonly TaskState[];
  /** Tasks whose changes are not landed yet, running ones among them. */
  readonly pending: readonly TaskState[];
  readonly groups: ReadonlyMap<string, number>;
}

/** Who is busy in this state. */
export function crowdOf(state: RunState): Crowd {
  const running: TaskState[] = [];
  const pending: TaskState[] = [];
  const groups = new Map<string, number>();
  for (const task of state.tasks.values()) {
    const { kind } = task.status;
    if (kind === 'running' || kind === 'committed' || kind === 'merging') pending.push(task);
    if (kind !== 'running') continue;
    running.push(task);
    const { group } = task.spec;
    if (group !== undefined) groups.set(group, (groups.get(group) ?? 0) + 1);
  }
  return { running, pending, groups };
}

/** Why a waiting task has not started, in a few words. */
export function startWait(state: RunState, task: TaskState, crowd: Crowd): string {
  const { spec } = task;
  if (state.stopping !== null) return 'the run is stopping';
  if (state.paused !== null) return 'the run is paused';
  const unmet = spec.needs.filter((id) => !isNeedMet(state, id));
  if (unmet.length > 0) return `needs ${nameList(unmet)}`;
  if (state.held !== null && isKeptBack(state.held.of, task)) {
    return `${SHORT_OF[state.held.of]}: ${brief(state.held.why, 160)}`;
  }
  const limit = spec.group === undefined ? undefined : state.plan.limits.groups[spec.group];
  if (spec.group !== undefined && limit !== undefined) {
    const busy = crowd.groups.get(spec.group) ?? 0;
    if (busy >= limit) return `group ${brief(spec.group, 40)} (${busy} of ${limit} busy)`;
  }
  if (crowd.running.length >= state.plan.limits.workers) return 'a worker slot';
  const here = crowd.running.find((busy) => busy.spec.mode === 'here');
  if (spec.mode === 'here' && here !== undefined) {
    return `${brief(here.spec.id, 60)} works in your checkout`;
  }
  const other = crowd.pending.find((busy) => overlaps(spec.writes, busy.spec.writes));
  if (other !== undefined) return `overlaps with ${brief(other.spec.id, 60)}`;
  const { budgetUsd } = state.plan.limits;
  if (budgetUsd !== undefined && costOf(state) >= budgetUsd) return 'the budget is spent';
  return 'its turn';
}

/** A full budget only keeps new workspaces from being made. */
function isKeptBack(of: Shortage, { spec, workspace }: TaskState): boolean {
  return of !== 'disk-budget' || (spec.mode !== 'here' && workspace !== 'live');
}

/** When a stopped task goes on: at `retryAt`, or when the scheduler gets to it. */
export function retryWait(now: number, retryAt: number | null): string {
  if (retryAt === null) return 'retry';
  return retryAt <= now ? 'retry now' : `retry in ${durationText(retryAt - now)}`;
}

function isNeedMet(state: RunState, id: string): boolean {
  const task = state.tasks.get(id);
  return task !== undefined && isMet(task);
}
