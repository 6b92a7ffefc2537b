/**
 * Who goes first: the task with the longest way still behind it, then the plan's own order.
 *
 * Computed once per plan: `decide` is called after every fact and must stay cheap.
 */

import { pathLengths } from '../model/graph.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import { overlaps } from '../model/scope.ts';
import type { TaskState } from '../model/state.ts';

const ranks = new WeakMap<Plan, ReadonlyMap<TaskId, number>>();
const overlapping = new WeakMap<Plan, Map<string, boolean>>();

/** Sorts tasks so that what unblocks most comes first. */
export function byPriority(plan: Plan): (a: TaskState, b: TaskState) => number {
  const rank = rankOf(plan);
  return (a, b) => (rank.get(a.spec.id) ?? 0) - (rank.get(b.spec.id) ?? 0);
}

/** Whether two tasks of a plan declare scopes that could meet. */
export function scopesMeet(plan: Plan, a: TaskState, b: TaskState): boolean {
  const { id: idA, writes: writesA } = a.spec;
  const { id: idB, writes: writesB } = b.spec;
  if (writesA.length === 0 || writesB.length === 0) return false;
  const known = overlapping.get(plan) ?? new Map<string, boolean>();
  overlapping.set(plan, known);
  const key = idA < idB ? `${idA} ${idB}` : `${idB} ${idA}`;
  const answer = known.get(key) ?? overlaps(writesA, writesB);
  known.set(key, answer);
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
