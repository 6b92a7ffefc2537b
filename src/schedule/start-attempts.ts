/**
 * start: which attempts begin now, and what every other task waits for. One look decides both: a
 * task either begins or has a reason, the one that holds longest or that a user can do most about:
 * the run, needs, the agent, time, slots, scopes, money, the machine.
 */

import type { TaskId } from '../model/plan.ts';
import { isOver, type RunState, type TaskState, unmetNeeds, type Wait } from '../model/state.ts';
import { estimateOf, Purse } from './budget.ts';
import { keepsBack, type Scarcity } from './machine-limits.ts';
import { type AgentsKnown, isQueued, type NextAttempt, nextOf } from './next-attempt.ts';
import { Parking } from './parking.ts';
import { byPriority, inPriority, scopesMeet } from './priority.ts';

/** An attempt that begins now. */
export interface Starting {
  readonly task: TaskState;
  readonly next: NextAttempt;
  /** What it may spend; null where the run has no budget, or it spends nothing. */
  readonly budgetUsd: number | null;
}

export interface Look {
  readonly starts: readonly Starting[];
  /** What each task waits for that is neither over nor under way. */
  readonly waits: ReadonlyMap<TaskId, Wait>;
  /** When time alone will make a difference (ms since 1970). */
  readonly wakeAt: number | null;
}

/**
 * Which attempts begin now: what `look` says, without looking at every task where that can be
 * avoided. Tasks are asked in the order of their priority; when the last slot is taken none of the
 * others can begin, and time alone makes no difference.
 */
export function begin(state: RunState, now: number, agents: AgentsKnown, scarcity: Scarcity): Look {
  const isTold = scarcity.disk !== null || state.held !== null;
  const room = new Room(state, agents, { due: [], scarcity });
  if (isTold || (!room.isFull && isShared(state))) return look(state, now, agents, scarcity);
  const parking = new Parking(state, now);
  const waits = new Map<TaskId, Wait>();
  const starts: Starting[] = [];
  for (const id of inPriority(state.plan)) {
    if (room.isFull) return { starts, waits, wakeAt: null };
    const task = state.tasks.get(id);
    const found = task === undefined ? null : dueOrWait(state, task, { now, agents, parking });
    if (found === null) continue;
    const wait = 'next' in found ? room.waitFor(found) : found;
    if (wait !== null) waits.set(id, wait);
    else if ('next' in found) starts.push({ ...found, budgetUsd: room.take(found) });
  }
  return { starts, waits, wakeAt: earliest(waits) };
}

/** Whether tasks that could begin affect each other: they share money, or an agent's limit. */
function isShared({ plan, agents }: RunState): boolean {
  return plan.limits.budgetUsd !== undefined || agents.size > 0;
}

/** Looks at every task that could begin; `scarcity` is what the machine has too little of. */
export function look(state: RunState, now: number, agents: AgentsKnown, scarcity: Scarcity): Look {
  const { disk } = scarcity;
  const waits = new Map<TaskId, Wait>();
  const starts: Starting[] = [];
  const due: Due[] = [];
  const parking = new Parking(state, now);
  for (const task of state.tasks.values()) {
    const found = dueOrWait(state, task, { now, agents, parking });
    if (found === null) continue;
    if (!('next' in found)) waits.set(task.spec.id, found);
    else if (disk === null || !keepsBack(disk, task)) due.push(found);
    else waits.set(task.spec.id, { kind: 'room', ...disk });
  }
  const order = byPriority(state.plan);
  due.sort((a, b) => order(a.task, b.task));
  const room = new Room(state, agents, { due, scarcity });
  for (const each of due) {
    const { task, next } = each;
    const wait = parking.waitFor(next.by.agent) ?? room.waitFor(each);
    if (wait !== null) {
      waits.set(task.spec.id, wait);
      continue;
    }
    parking.begin(next.by.agent, task.spec.id);
    starts.push({ task, next, budgetUsd: room.take(each) });
  }
  return { starts, waits, wakeAt: earliest(waits) };
}

interface Due {
  readonly task: TaskState;
  readonly next: NextAttempt;
}

/** Whether a task may begin as far as only itself, its needs and time are concerned. */
function dueOrWait(
  state: RunState,
  task: TaskState,
  at: { readonly now: number; readonly agents: AgentsKnown; readonly parking: Parking },
): Due | Wait | null {
  const { kind } = task.status;
  if (isOver(task) || kind === 'running' || kind === 'merging') return null;
  if (isQueued(state, task, at.agents)) return { kind: 'queue' };
  const next = nextOf(state, task, at.agents);
  if (task.cancelled || task.skipped !== null || next?.kind !== 'attempt') return { kind: 'end' };
  if (state.stopping !== null) return { kind: 'stopping' };
  if (state.paused !== null) return { kind: 'paused' };
  if (task.paused) return { kind: 'task-paused' };
  const unmet = unmetNeeds(state, task);
  if (unmet.length > 0) return { kind: 'needs', tasks: unmet };
  if (task.workspace === 'released') return { kind: 'workspace' };
  const parked = at.parking.waitFor(next.by.agent);
  if (parked !== null) return parked;
  return next.at > at.now ? { kind: 'retry', until: next.at } : { task, next };
}

/** The limits of the run, with what begins in this turn counted. */
class Room {
  readonly #state: RunState;
  readonly #agents: AgentsKnown;
  readonly #active: TaskState[] = [];
  readonly #holding: TaskState[] = [];
  readonly #purse: Purse;
  readonly #scarcity: Scarcity;
  #spenders: number;
  /** Coding agents that begin in this turn. */
  #begun = 0;

  constructor(
    state: RunState,
    agents: AgentsKnown,
    { due, scarcity }: { readonly due: readonly Due[]; readonly scarcity: Scarcity },
  ) {
    this.#state = state;
    this.#agents = agents;
    this.#scarcity = scarcity;
    for (const task of state.tasks.values()) {
      if (task.status.kind === 'running') this.#active.push(task);
      if (this.#holdsScope(task)) this.#holding.push(task);
    }
    this.#purse = new Purse(state, this.#active);
    this.#spenders = due.filter(({ task }) => this.#spends(task)).length;
  }

  /** Whether every slot is taken. */
  get isFull(): boolean {
    return this.#active.length >= this.#state.plan.limits.workers;
  }

  /** What has no room for the task; null where it may begin. */
  waitFor({ task, next }: Due): Wait | null {
    const { workers, groups } = this.#state.plan.limits;
    const { group, mode } = task.spec;
    const limit = group === undefined ? undefined : groups[group];
    if (group !== undefined && limit !== undefined) {
      const busy = this.#active.filter((other) => other.spec.group === group).length;
      if (busy >= limit) return { kind: 'group', group, busy, limit };
    }
    if (this.isFull) return { kind: 'slot', workers };
    const here = this.#active.find(({ spec }) => spec.mode === 'here');
    if (mode === 'here' && here !== undefined) return { kind: 'checkout', task: here.spec.id };
    const other = this.#holding.find((each) => each !== task && scopesMeet(task, each));
    if (other !== undefined) return { kind: 'scope', task: other.spec.id };
    if (this.#spends(task) && this.#purse.lacks(this.#estimateOf(task, next))) {
      return { kind: 'money' };
    }
    return this.#strainOn(task);
  }

  /** Counts a task that begins, and says what it may spend. */
  take({ task, next }: Due): number | null {
    const free = this.#state.plan.limits.workers - this.#active.length;
    const shares = Math.min(free, this.#spenders);
    const budgetUsd = this.#spends(task)
      ? this.#purse.take(shares, this.#estimateOf(task, next))
      : null;
    if (this.#spends(task)) {
      this.#spenders -= 1;
      this.#begun += 1;
    }
    this.#active.push(task);
    this.#holding.push(task);
    return budgetUsd;
  }

  /** What the machine is short of, where others run that it would make worse for. */
  #strainOn(task: TaskState): Wait | null {
    if (this.#active.length === 0) return null;
    const short = this.#scarcity.strain(this.#begun);
    if (short === null || (short.of === 'memory' && !this.#spends(task))) return null;
    return { kind: 'room', ...short };
  }

  /** Needed only where there is a budget: it looks at every attempt. */
  #estimateOf(task: TaskState, { by }: NextAttempt): number | null {
    const { budgetUsd } = this.#state.plan.limits;
    return budgetUsd === undefined ? null : estimateOf(this.#state, task, by);
  }

  /** Fallbacks are coding agents where the task's own is one. */
  #spends({ spec }: TaskState): boolean {
    return this.#agents(spec.agent).prose;
  }

  /** Work that has not landed keeps others out of its scope: they would start without it. */
  #holdsScope(task: TaskState): boolean {
    const { kind } = task.status;
    return kind === 'running' || kind === 'merging' || isQueued(this.#state, task, this.#agents);
  }
}

function earliest(waits: ReadonlyMap<TaskId, Wait>): number | null {
  let at: number | null = null;
  for (const wait of waits.values()) {
    if ('until' in wait) at = Math.min(wait.until, at ?? wait.until);
  }
  return at;
}
