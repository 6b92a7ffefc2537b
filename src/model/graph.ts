/**
 * The graph of what needs what: cycles, stages, order and the longest way to the end.
 *
 * - Needs that name no task of the list are ignored here; the plan's checks report them.
 * - Only `findCycle` accepts a graph with cycles. The others assert that there are none.
 * - Everything costs about tasks + needs (`ancestors`: 1/32 of that times the tasks), and no
 *   function recurses: a chain of ten thousand tasks is fine.
 */

import { assert } from '../base/assert.ts';
import type { TaskId } from './plan.ts';

/** What this file needs to know of a task. */
export interface GraphTask {
  readonly id: TaskId;
  readonly needs: readonly TaskId[];
}

/** The first cycle in plan order, along the needs and closed: `[a, b, a]`; null without one. */
export function findCycle(tasks: readonly GraphTask[]): readonly TaskId[] | null {
  const needsOf = new Map(tasks.map(({ id, needs }) => [id, needs]));
  const finished = new Set<TaskId>();
  for (const { id: start } of tasks) {
    const path: TaskId[] = [];
    const placeOf = new Map<TaskId, number>();
    const stack: { id: TaskId; next: number }[] = [];
    const enter = (id: TaskId) => {
      placeOf.set(id, path.length);
      path.push(id);
      stack.push({ id, next: 0 });
    };
    if (!finished.has(start)) enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const need = needsOf.get(top.id)?.[top.next];
      top.next += 1;
      if (need === undefined) {
        finished.add(top.id);
        placeOf.delete(top.id);
        path.pop();
        stack.pop();
      } else if (placeOf.has(need)) {
        return [...path.slice(placeOf.get(need)), need];
      } else if (needsOf.has(need) && !finished.has(need)) {
        enter(need);
      }
    }
  }
  return null;
}

/** For each task the number of tasks on the longest chain that ends with it: 1 needs nothing. */
export function stages(tasks: readonly GraphTask[]): ReadonlyMap<TaskId, number> {
  const stageOf = new Map<TaskId, number>();
  for (const { id, needs } of inOrder(tasks)) {
    let before = 0;
    for (const need of needs) before = Math.max(before, stageOf.get(need) ?? 0);
    stageOf.set(id, before + 1);
  }
  return stageOf;
}

/** Which task comes before which, directly or not. */
export interface Ancestors {
  /** Everything the task needs, directly or not, in plan order. */
  of(id: TaskId): readonly TaskId[];
  /** Whether one of the two needs the other, so that they never run together. */
  isOrdered(a: TaskId, b: TaskId): boolean;
}

/** Computes all ancestors once, so that any number of pairs can be asked for. */
export function ancestors(tasks: readonly GraphTask[]): Ancestors {
  const indexOf = new Map(tasks.map(({ id }, index) => [id, index]));
  const words = Math.ceil(tasks.length / 32);
  const sets = new Map<TaskId, Uint32Array>();
  for (const { id, needs } of inOrder(tasks)) {
    const set = new Uint32Array(words);
    for (const need of needs) {
      const index = indexOf.get(need);
      if (index === undefined) continue;
      const before = sets.get(need)!;
      for (let i = 0; i < words; i += 1) set[i]! |= before[i]!;
      set[index >>> 5]! |= 1 << (index & 31);
    }
    sets.set(id, set);
  }
  const isBefore = (before: TaskId, after: TaskId): boolean => {
    const index = indexOf.get(before);
    const word = index === undefined ? 0 : (sets.get(after)?.[index >>> 5] ?? 0);
    return index !== undefined && ((word >>> (index & 31)) & 1) === 1;
  };
  return {
    of: (id) => tasks.map((task) => task.id).filter((other) => isBefore(other, id)),
    isOrdered: (a, b) => isBefore(a, b) || isBefore(b, a),
  };
}

/** For each task the length of the longest chain that begins with it and goes on to the end. */
export function pathLengths(
  tasks: readonly GraphTask[],
  durationOf: (id: TaskId) => number,
): ReadonlyMap<TaskId, number> {
  const behind = new Map<TaskId, number>();
  const lengths = new Map<TaskId, number>();
  for (const { id, needs } of inOrder(tasks).reverse()) {
    const length = durationOf(id) + (behind.get(id) ?? 0);
    lengths.set(id, length);
    for (const need of needs) behind.set(need, Math.max(behind.get(need) ?? 0, length));
  }
  return lengths;
}

/** The longest chain from a task that needs nothing to the end; the first in plan order. */
export function criticalPath(
  tasks: readonly GraphTask[],
  durationOf: (id: TaskId) => number,
): readonly TaskId[] {
  const lengths = pathLengths(tasks, durationOf);
  const followers = followersOf(tasks);
  const longest = (candidates: Iterable<TaskId>): TaskId | undefined => {
    let best: TaskId | undefined;
    for (const id of candidates) {
      if (best === undefined || lengths.get(id)! > lengths.get(best)!) best = id;
    }
    return best;
  };
  const path: TaskId[] = [];
  const roots = tasks.filter(({ needs }) => !needs.some((need) => followers.has(need)));
  let id = longest(roots.map((task) => task.id));
  while (id !== undefined) {
    path.push(id);
    id = longest(followers.get(id) ?? []);
  }
  return path;
}

/** Tasks in an order in which everything needed comes first. */
function inOrder<T extends GraphTask>(tasks: readonly T[]): T[] {
  const taskOf = new Map(tasks.map((task) => [task.id, task]));
  assert(taskOf.size === tasks.length, 'two tasks have the same id');
  const followers = followersOf(tasks);
  const open = new Map<TaskId, number>();
  for (const { id, needs } of tasks) {
    open.set(id, needs.filter((need) => taskOf.has(need)).length);
  }
  const order = tasks.filter(({ id }) => open.get(id) === 0);
  for (const { id } of order) {
    for (const follower of followers.get(id) ?? []) {
      const left = open.get(follower)! - 1;
      open.set(follower, left);
      if (left === 0) order.push(taskOf.get(follower)!); // `for … of` goes on into what is added.
    }
  }
  assert(order.length === tasks.length, 'the tasks need each other in a circle');
  return order;
}

/** Only tasks of the list are keys; needs outside of the list are left out. */
function followersOf(tasks: readonly GraphTask[]): ReadonlyMap<TaskId, readonly TaskId[]> {
  const followers = new Map<TaskId, TaskId[]>(tasks.map(({ id }) => [id, []]));
  for (const { id, needs } of tasks) {
    for (const need of needs) followers.get(need)?.push(id);
  }
  return followers;
}
