/**
 * The order in which finished work lands: by urgency and what the radar foresees, or as the plan
 * lists it. Pure.
 *
 * - Work without a foreseen conflict goes first: it needs no rework. Of two that conflict the one
 *   that unblocks more goes first.
 * - Work that changes names and work that uses them are put next to each other: the sooner their
 *   combination is red, the sooner it is fixed.
 * - It is only an order: everything lands that can. The exception is work whose names clash with
 *   landed work's (`land.on_semantic`): it is checked once more before it is merged
 *   (`suspectLandings`), and does not queue behind the other (`avoidedBy`).
 * - In the order of the plan, finished work waits for every earlier task that can still bring work,
 *   its dependencies included. A task that cannot begin yet holds up none: it may wait for this
 *   very landing.
 */

import type { Plan, TaskId, TaskSpec } from '../model/plan.ts';
import {
  chainOf,
  hasLanded,
  isOver,
  type Landing,
  type RunState,
  type TaskState,
} from '../model/state.ts';
import { type AgentsKnown, nextOf } from './next-attempt.ts';
import { refusalOf } from './parking.ts';
import { scopesMeet } from './priority.ts';

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

/** Tasks that clash with the queue come first; behind each task come those that clash with it. */
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

/**
 * Landed work whose names clash with a task's and which the task has not seen. Work that may not go
 * back to its agent any more lands as it is: what is foreseen is no proof.
 */
export function suspectLandings(state: RunState, task: TaskState): readonly Landing[] {
  const partners = task.attempts.length === 0 ? NOBODY : clashing(state, task);
  return partners.size === 0 ? [] : state.landed.filter((each) => partners.has(each.task));
}

const NOBODY: ReadonlySet<TaskId> = new Set();

/** The candidate that its work conflicts or clashes with: that one lands first. */
export function avoidedBy(state: RunState, task: TaskState): TaskId | null {
  const { status } = task;
  const conflicting = status.kind === 'committed' ? status.avoids : undefined;
  const clashes = clashing(state, task);
  const isAvoided = (id: TaskId): boolean => id === conflicting || clashes.has(id);
  return state.queue.find((candidate) => isAvoided(candidate.task))?.task ?? null;
}

/** The tasks whose names clash with the task's, if the plan wants that to count. */
function clashing({ plan, findings }: RunState, task: TaskState): ReadonlySet<TaskId> {
  const { onSemantic, reworks } = plan.landing;
  const isDue = onSemantic === 'fail' || (onSemantic === 'agent' && task.reworks < reworks);
  const { id } = task.spec;
  const held = isDue ? findings.filter(({ holds }) => holds) : [];
  return new Set(held.flatMap(({ a, b }) => (a === id ? [b] : b === id ? [a] : [])));
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

function partnersOf({ radar }: RunState, id: TaskId): readonly TaskId[] {
  return radar.clashes.flatMap(({ a, b }) => (a === id ? [b] : b === id ? [a] : []));
}

const orders = new WeakMap<Plan, readonly TaskId[]>();

/** The work of `queued` whose turn it is, first to land first. */
export function inTurn(
  state: RunState,
  queued: readonly TaskState[],
  agents: AgentsKnown,
): readonly TaskState[] {
  const waiting = new Set(queued);
  const stuck = new Set<TaskId>();
  const ready: TaskState[] = [];
  for (const id of planOrder(state.plan)) {
    const task = state.tasks.get(id)!;
    if (isOver(task) || task.status.kind === 'merging') continue;
    if (waiting.has(task)) {
      ready.push(task);
      if (avoidedBy(state, task) !== null) break; // It is built once that one has landed.
    } else if (isStuck(state, task, { queued, stuck, agents })) stuck.add(id);
    else if (task.spec.mode === 'write') break;
  }
  return ready;
}

/** Whether it does not run, and something else has to happen before it can. */
function isStuck(
  state: RunState,
  task: TaskState,
  around: {
    readonly queued: readonly TaskState[];
    readonly stuck: ReadonlySet<TaskId>;
    readonly agents: AgentsKnown;
  },
): boolean {
  const { queued, stuck, agents } = around;
  if (task.status.kind === 'running') return false;
  if (state.stopping !== null || state.held !== null) return true;
  const next = nextOf(state, task, agents);
  if (next?.kind === 'attempt' && refusalOf(state, next.by.agent) !== null) return true;
  return task.spec.needs.some((need) => stuck.has(need)) || queued.some((q) => scopesMeet(q, task));
}

/** All tasks as the plan names them, each behind what it needs. */
function planOrder(plan: Plan): readonly TaskId[] {
  const known = orders.get(plan);
  if (known !== undefined) return known;
  const specs = new Map(plan.tasks.map((task) => [task.id, task]));
  const order = new Set<TaskId>();
  const open: TaskSpec[] = [...plan.tasks].reverse();
  for (let task = open.pop(); task !== undefined; task = open.pop()) {
    const missing = order.has(task.id) ? [] : task.needs.filter((need) => !order.has(need));
    const needs = missing.flatMap((need) => specs.get(need) ?? []);
    if (needs.length === 0) order.add(task.id);
    else open.push(task, ...needs.reverse());
  }
  orders.set(plan, [...order]);
  return [...order];
}
