/**
 * decide: from what is known to what to do next. All policy of a run meets here, and it is pure.
 *
 *   D1. It returns facts to record and, with each, at most one effect to perform after recording.
 *   D2. No limit is exceeded by what it returns: workers, groups, money, overlapping scopes; and
 *       one task at a time works in the user's own checkout. Nor does anything start for which the
 *       machine has no room (room.ts).
 *   D3. Nothing starts before everything it needs has landed (or is done).
 *   D4. What lands, and in which order, is the queue's business (landing.ts, queue.ts).
 *   D5. Work that is there already is adopted once what it needs has landed; no agent is asked.
 *   D6. Called again with the facts recorded it decides something new or nothing.
 */

import type { Effect, Meanwhile, PublishEffect, ReleaseEffect } from '../model/effect.ts';
import type { AttemptStart, Event, RunOutcome } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { type Machine, UNMEASURED } from '../model/machine.ts';
import { type Sha, type TaskId, titleOf } from '../model/plan.ts';
import { foreseenFor } from '../model/radar.ts';
import { isGood, isMet, isOver, lastWords, type RunState, type TaskState } from '../model/state.ts';
import { isSpent, Purse } from './budget.ts';
import { land } from './landing.ts';
import { byPriority, scopesMeet } from './priority.ts';
import { type Capabilities, type Next, nextAfter, retriedStart } from './retry.ts';
import { keepsBack, shortageOn, turnOf } from './room.ts';

export interface Decision {
  readonly record: Event;
  readonly perform?: Effect;
}

export interface Decided {
  readonly decisions: readonly Decision[];
  /** When time alone will make a difference (ms since 1970). */
  readonly wakeAt: number | null;
}

/** What the policy knows of the agents. */
export type AgentsKnown = (agent: string) => Capabilities;

/** The next facts and effects of a run. */
export function decide(
  state: RunState,
  now: number,
  agents: AgentsKnown,
  machine: Machine = UNMEASURED,
): Decided {
  if (state.outcome !== null) return { decisions: [], wakeAt: null };
  // What is adopted keeps others out of its scope: they are decided on afterwards.
  const adopted = adopt(state);
  if (adopted.length > 0) return { decisions: adopted, wakeAt: null };
  const queued = (task: TaskState): boolean => isQueued(state, task, agents);
  const settled = [...settle(state, agents), ...release(state), ...land(state, queued)];
  const { decisions: starts, wakeAt } = start(state, now, agents, machine);
  const decisions = [...settled, ...starts];
  if (decisions.length === 0) decisions.push(...finish(state, agents));
  return { decisions, wakeAt };
}

/** Tasks that are over although nothing runs any more: given up, cancelled, or without hope. */
function settle(state: RunState, agents: AgentsKnown): readonly Decision[] {
  const decisions: Decision[] = [];
  for (const task of state.tasks.values()) {
    const failure = finalFailure(state, task, agents);
    if (failure !== null) {
      decisions.push({ record: { type: 'task.failed', task: task.spec.id, failure } });
    }
  }
  return decisions;
}

function finalFailure(state: RunState, task: TaskState, agents: AgentsKnown): Failure | null {
  const { status, spec } = task;
  if (isOver(task) || status.kind === 'running' || status.kind === 'merging') return null;
  if (task.cancelled || state.stopping?.mode === 'cancel') {
    return { kind: 'cancelled', message: 'Cancelled; its work so far is kept.' };
  }
  if (task.skipped !== null) {
    return { kind: 'skipped', message: 'Given up by somebody; its work so far is kept.' };
  }
  const failed = lostNeed(state, task);
  if (failed !== null && !isQueued(state, task, agents)) {
    const word = state.tasks.get(failed)?.skipped ? 'was skipped' : 'failed';
    const so = status.kind === 'waiting' ? 'Not started' : 'Not tried again';
    const message = `${so}: it needs ${failed}, which ${word}.`;
    return { kind: 'dependency-failed', message, dependency: failed };
  }
  if (status.kind === 'stopped' && nextOf(state, task, agents)?.kind === 'give-up') {
    return status.failure;
  }
  const isFree = isQueued(state, task, agents) || isToAdopt(task);
  const spends = agents(spec.agent).prose && !isFree;
  if (spends && state.stopping === null && isSpent(state)) {
    const message = `The run's budget of $${state.plan.limits.budgetUsd} is spent.`;
    return { kind: 'budget', message };
  }
  return null;
}

/** The first task it needs that failed, unless somebody said to go on without. */
function lostNeed(state: RunState, { spec }: TaskState): TaskId | null {
  const isLost = (id: TaskId): boolean => {
    const task = state.tasks.get(id);
    return task?.status.kind === 'failed' && !isMet(task);
  };
  return spec.needs.find(isLost) ?? null;
}

/** Workspaces that nothing uses any more. */
function release(state: RunState): readonly Decision[] {
  const decisions: Decision[] = [];
  for (const task of state.tasks.values()) {
    if (task.workspace !== 'live' || !isOver(task)) continue;
    const id = task.spec.id;
    decisions.push({
      record: { type: 'workspace.released', task: id },
      perform: releaseEffect(state, task),
    });
  }
  return decisions;
}

/** Work that the plan brings along; where it did not land and is tried again, once more. */
function adopt(state: RunState): readonly Decision[] {
  if (state.stopping !== null) return [];
  return [...state.tasks.values()].flatMap((task) => {
    const { id, work: commit } = task.spec;
    if (commit === undefined || !isToAdopt(task) || !mayStart(state, task)) return [];
    return [{ record: { type: 'work.adopted', task: id, commit } }];
  });
}

function isToAdopt({ spec, status }: TaskState): boolean {
  return spec.work !== undefined && status.kind === 'waiting';
}

/** The effect that ends a task's workspace; also used to go on with it after a crash. */
export function releaseEffect({ plan }: RunState, task: TaskState): ReleaseEffect {
  const { base = null } = task.attempts.at(-1) ?? {};
  // Squashed or rebased work is not in the history of the run's branch; only its changes are.
  const landed = task.status.kind === 'landed' && plan.landing.strategy === 'merge';
  const isSafe = landed || task.status.kind === 'delivered';
  const safe = [isSafe ? task.work : null, base].filter((commit) => commit !== null);
  return { kind: 'release', task: task.spec.id, succeeded: isGood(task), safe };
}

/** The effect that publishes what has landed; also used to go on with it after a crash. */
export function publishEffect(state: RunState, head: Sha, target: string): PublishEffect {
  const landed = state.landed.flatMap(({ task, onto, commit }) => {
    const work = state.tasks.get(task)?.work ?? null;
    return work === null ? [] : [{ work, onto, commit }];
  });
  const isMerged = state.plan.landing.strategy === 'merge';
  return {
    kind: 'publish',
    head,
    target,
    works: isMerged ? landed.map(({ work }) => work) : [],
    // What a person has landed is in the history as it is.
    rewritten: isMerged ? [] : landed.filter(({ onto, commit }) => onto !== commit),
  };
}

function isQueued(state: RunState, task: TaskState, agents: AgentsKnown): boolean {
  if (task.cancelled || task.skipped !== null) return false;
  return task.status.kind === 'committed' || nextOf(state, task, agents)?.kind === 'queue';
}

/** New attempts, as many as the limits allow; and when the next waiting one is due. */
function start(
  state: RunState,
  now: number,
  agents: AgentsKnown,
  machine: Machine,
): { readonly decisions: readonly Decision[]; readonly wakeAt: number | null } {
  if (state.stopping !== null || state.paused !== null) return { decisions: [], wakeAt: null };
  const tasks = [...state.tasks.values()];
  const { due: all, wakeAt } = dueNow(state, now, agents);
  const short = shortageOn(state, machine);
  const due = all.filter(({ task }) => !keepsBack(short, task));
  const turn = turnOf(state, due.length < all.length ? short : null);
  const active = tasks.filter(({ status }) => status.kind === 'running');
  const holding = tasks.filter((each) => holdsScope(state, each, agents));
  const purse = new Purse(state, active);
  const spends = ({ spec }: TaskState): boolean => agents(spec.agent).prose;
  let spenders = due.filter(({ task }) => spends(task)).length;
  const decisions: Decision[] = turn === null ? [] : [{ record: turn }];
  for (const { task, start } of due) {
    if (!hasRoom(state, task, active, holding) || (spends(task) && purse.isEmpty)) continue;
    const free = state.plan.limits.workers - active.length;
    const budgetUsd = spends(task) ? purse.take(Math.min(free, spenders)) : null;
    if (spends(task)) spenders -= 1;
    active.push(task);
    holding.push(task);
    decisions.push(attemptDecision(state, task, start, budgetUsd));
  }
  return { decisions, wakeAt };
}

/** Tasks whose next attempt may begin as far as time is concerned, the most urgent first. */
function dueNow(
  state: RunState,
  now: number,
  agents: AgentsKnown,
): {
  readonly due: readonly { readonly task: TaskState; readonly start: AttemptStart }[];
  readonly wakeAt: number | null;
} {
  const due: { readonly task: TaskState; readonly start: AttemptStart }[] = [];
  let wakeAt: number | null = null;
  for (const task of state.tasks.values()) {
    const next = mayStart(state, task) ? nextOf(state, task, agents) : null;
    if (next?.kind !== 'attempt') continue;
    if (next.at <= now) due.push({ task, start: next.start });
    else wakeAt = Math.min(next.at, wakeAt ?? next.at);
  }
  const order = byPriority(state.plan);
  return { due: due.sort((a, b) => order(a.task, b.task)), wakeAt };
}

/** Work that has not landed keeps others out of its scope: they would start without it. */
function holdsScope(state: RunState, task: TaskState, agents: AgentsKnown): boolean {
  const { kind } = task.status;
  return kind === 'running' || kind === 'merging' || isQueued(state, task, agents);
}

function mayStart(state: RunState, task: TaskState): boolean {
  const { spec, status } = task;
  if (status.kind !== 'waiting' && status.kind !== 'stopped') return false;
  if (task.cancelled || task.skipped !== null) return false;
  if (task.workspace === 'released') return false; // A retried task's workspace is on its way out.
  return spec.needs.every((need) => {
    const needed = state.tasks.get(need);
    return needed !== undefined && isMet(needed);
  });
}

function hasRoom(
  state: RunState,
  task: TaskState,
  active: readonly TaskState[],
  holding: readonly TaskState[],
): boolean {
  const { limits } = state.plan;
  const { group } = task.spec;
  if (active.length >= limits.workers) return false;
  if (task.spec.mode === 'here' && active.some(({ spec }) => spec.mode === 'here')) return false;
  if (group !== undefined) {
    const inGroup = active.filter((other) => other.spec.group === group).length;
    if (inGroup >= (limits.groups[group] ?? Number.POSITIVE_INFINITY)) return false;
  }
  return !holding.some((other) => other !== task && scopesMeet(state.plan, task, other));
}

function attemptDecision(
  state: RunState,
  task: TaskState,
  start: AttemptStart,
  budgetUsd: number | null,
): Decision {
  const id = task.spec.id;
  const attempt = task.attempts.length + 1;
  const goesOn = start.kind === 'continue';
  const base = goesOn ? (task.attempts.at(-1)?.base ?? state.head) : state.head;
  const reserved = budgetUsd === null ? {} : { budgetUsd };
  const foreseen = foreseenFor(state.radar, id, task.attempts.at(-1)?.astray ?? []);
  return {
    record: { type: 'attempt.started', task: id, attempt, base, start, ...reserved },
    perform: {
      kind: 'attempt',
      task: id,
      attempt,
      base,
      start,
      before: task.status.kind === 'stopped' ? task.status.failure : null,
      heard: task.spec.hears.map((from) => ({
        task: from,
        text: lastWords(state.tasks.get(from)),
      })),
      meanwhile: meanwhileOf(state, task),
      ...(foreseen === null ? {} : { foreseen }),
      budgetUsd,
    },
  };
}

/** What the finished work of a task did not fit to. */
function meanwhileOf(state: RunState, { status }: TaskState): readonly Meanwhile[] {
  const failure = status.kind === 'stopped' ? status.failure : null;
  if (failure?.kind !== 'conflict' && failure?.kind !== 'gate-failed') return [];
  return failure.landedSince.flatMap((id) => {
    const other = state.tasks.get(id);
    if (other === undefined) return [];
    const { spec, attempts } = other;
    const files = attempts.at(-1)?.files ?? [];
    const { prompt } = spec;
    return [{ task: id, title: titleOf(spec), prompt, said: lastWords(other), files }];
  });
}

/** What comes next for a task that is not running: its first attempt, or what its stop allows. */
function nextOf(state: RunState, task: TaskState, agents: AgentsKnown): Next | null {
  if (task.status.kind === 'waiting')
    return { kind: 'attempt', at: 0, start: firstStart(state, task) };
  if (task.status.kind !== 'stopped') return null;
  const { retried } = task;
  if (retried !== null) {
    const start = retriedStart(task, task.status, agents(task.spec.agent));
    return { kind: 'attempt', at: retried.at, start };
  }
  return nextAfter(task, task.status, state.plan.landing, agents(task.spec.agent));
}

function firstStart(state: RunState, { spec }: TaskState): AttemptStart {
  const session = spec.forks === undefined ? null : (state.tasks.get(spec.forks)?.session ?? null);
  return session === null ? { kind: 'fresh' } : { kind: 'fresh', fork: session };
}

/** When a stopped task is tried again; null where that does not depend on time. For screens. */
export function dueAt(state: RunState, task: TaskState, agents: AgentsKnown): number | null {
  const next = task.status.kind === 'stopped' ? nextOf(state, task, agents) : null;
  return next?.kind === 'attempt' ? next.at : null;
}

/** The end: everything is over and tidied up, then published, then said to be finished. */
function finish(state: RunState, agents: AgentsKnown): readonly Decision[] {
  const tasks = [...state.tasks.values()];
  const busy = tasks.some(
    ({ status, workspace }) =>
      status.kind === 'running' || status.kind === 'merging' || workspace === 'released',
  );
  if (busy || state.landing !== null || state.publish.kind === 'running') return [];
  if (state.stopping !== null) {
    const queued = tasks.some((task) => isQueued(state, task, agents));
    if (state.stopping.mode === 'drain' && queued) return [];
    return finished(state.stopping.mode === 'cancel' ? 'cancelled' : 'interrupted');
  }
  if (!tasks.every(isOver)) return [];
  if (isUnpublished(state) && state.head !== null && state.target !== null) {
    const { head, target } = state;
    const effect = publishEffect(state, head, target);
    return [{ record: { type: 'publish.started', head }, perform: effect }];
  }
  return finished(tasks.every(isMet) && state.publish.kind !== 'blocked' ? 'succeeded' : 'failed');
}

function isUnpublished({ plan, head, base, publish }: RunState): boolean {
  const { publish: when, strategy } = plan.landing;
  if (when === 'off' || strategy === 'none' || head === base) return false;
  if (publish.kind === 'blocked') return false;
  return publish.kind !== 'finished' || publish.head !== head;
}

function finished(outcome: RunOutcome): readonly Decision[] {
  return [{ record: { type: 'run.finished', outcome } }];
}
