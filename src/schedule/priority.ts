/**
 * Who goes first: the task with the longest way still behind it, then the plan's own order.
 *
 * Computed once per plan: `decide` is called after every fact and must stay cheap.
 */

import { pathLengths } from '../model/graph.ts';
import type { Plan, TaskId, TaskSpec } from '../model/plan.ts';
import { overlaps } from '../model/scope.ts';
import type { TaskState } from '../model/state.ts';

const ranks = new WeakMap<Plan, ReadonlyMap<TaskId, number>>();
const meeting = new WeakMap<TaskSpec, WeakMap<TaskSpec, boolean>>();

/** Sorts tasks so that what unblocks most comes first. */
export function byPriority(plan: Plan): (a: TaskState, b: TaskState) => number {
  const rank = rankOf(plan);
  return (a, b) => (rank.get(a.spec.id) ?? 0) - (rank.get(b.spec.id) ?? 0);
}

/** All tasks of a plan in that order. */
export function inPriority(plan: Plan): Iterable<TaskId> {
  return rankOf(plan).keys();
}

/** Whether two tasks declare scopes that could meet. */
export function scopesMeet({ spec: a }: TaskState, { spec: b }: TaskState): boolean {
  if (a.writes.length === 0 || b.writes.length === 0) return false;
  const known = meeting.get(a) ?? new WeakMap<TaskSpec, boolean>();
  meeting.set(a, known);
  const answer = known.get(b) ?? overlaps(a.writes, b.writes);
  known.set(b, answer);
  return answer;
}

function rankOf(plan: Plan): ReadonlyMap<TaskId, number> {
  const known = ranks.get(plan);
  if (known !== undefined) return known;
  const lengths = pathLengths(plan.tasks, () => 1);
  const order = plan.tasks
    .map(({ id }, index) => ({ id, index, length: lengths.get(id) ?? 0 }))
    .sort((a, b) => b.length - a.length || a.index - b.index);
  const rank = new Map(order.map(({ id }, index) => [id, index]));
  ranks.set(plan, rank);
  return rank;
}
