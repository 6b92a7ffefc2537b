/**
 * What the radar foresees, put to use in the order of landing. Pure.
 *
 *   F1. Work that conflicts with nobody's goes before work that does: it spoils nothing and need
 *       not wait for a rework. Of two that conflict the one that unblocks more goes first.
 *   F2. Work that changes names and work that uses them are put next to each other, and their
 *       combination is verified early: the sooner it is red, the sooner it is mended.
 *   F3. It is only an order: whatever the radar says, everything lands that can.
 */

import type { TaskId } from '../model/plan.ts';
import { chainOf, isOver, type RunState, type TaskState } from '../model/state.ts';

/** Finished work in the order in which it should land; `urgent` is the most urgent first. */
export function inLandingOrder(
  state: RunState,
  urgent: readonly TaskState[],
): readonly TaskState[] {
  const { collisions, clashes } = state.radar;
  if (collisions.length + clashes.length === 0) return urgent;
  const collides = ({ spec }: TaskState): boolean =>
    collisions.some(
      ({ a, b }) =>
        b !== null && (a === spec.id || b === spec.id) && isAhead(state, a) && isAhead(state, b),
    );
  const order = [
    ...urgent.filter((task) => !collides(task)),
    ...urgent.filter((task) => collides(task)),
  ];
  return besidePartners(state, order);
}

/** Whether the task's work has not landed and still may. */
function isAhead({ tasks }: RunState, id: TaskId): boolean {
  const task = tasks.get(id);
  return task !== undefined && !isOver(task);
}

/** Behind each, and first of all behind the queue as it is, comes whoever clashes with it. */
function besidePartners(state: RunState, order: readonly TaskState[]): readonly TaskState[] {
  const rest = new Map(order.map((task) => [task.spec.id, task]));
  const placed: TaskState[] = [];
  const place = (task: TaskState): void => {
    if (!rest.delete(task.spec.id)) return;
    placed.push(task);
    follow(task.spec.id);
  };
  const follow = (id: TaskId): void => {
    for (const partner of partnersOf(state, id)) {
      const task = rest.get(partner);
      if (task !== undefined) place(task);
    }
  };
  for (const { task } of state.queue) follow(task);
  for (const task of order) place(task);
  return placed;
}

/** Candidates that have a partner before them, or on the head: together they may be red. */
export function suspectsIn(state: RunState): ReadonlySet<TaskId> {
  const before = new Set<TaskId>();
  const suspects = new Set<TaskId>();
  for (const { task } of chainOf(state)) {
    const isBefore = (id: TaskId): boolean => before.has(id) || hasLanded(state, id);
    if (partnersOf(state, task).some(isBefore)) suspects.add(task);
    before.add(task);
  }
  return suspects;
}

function hasLanded({ tasks }: RunState, id: TaskId): boolean {
  return tasks.get(id)?.status.kind === 'landed';
}

function partnersOf({ radar }: RunState, id: TaskId): readonly TaskId[] {
  return radar.clashes.flatMap(({ a, b }) => (a === id ? [b] : b === id ? [a] : []));
}
