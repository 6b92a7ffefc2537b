/**
 * decide: from what is known to what to do next. All policy of a run meets here, and it is pure.
 *
 * - It returns facts to record and, with each, at most one effect to perform after recording.
 *   Called again with the facts recorded it decides something new or nothing.
 * - Nothing it returns exceeds a limit: workers, groups, money, overlapping scopes, room on the
 *   machine (machine-limits.ts). One task at a time works in the user's own checkout.
 * - Nothing starts before everything it needs has landed (or is done). Work that exists already is
 *   adopted then; no agent is asked.
 * - What lands, and in which order, is the queue's business (landing.ts, queue.ts).
 */

import type { Effect, Meanwhile, ReleaseEffect, Tried } from '../model/effect.ts';
import type { Event, RunOutcome } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { type Machine, UNMEASURED } from '../model/machine.ts';
import {
  type Assignee,
  assigneesOf,
  firstAssignee,
  isSameAssignee,
  type TaskId,
  titleOf,
} from '../model/plan.ts';
import { foreseenFor } from '../model/radar.ts';
import {
  type AgentState,
  awaitsApproval,
  hasLanded,
  isGood,
  isHeldBack,
  isMet,
  isOver,
  lastWords,
  lostNeed,
  pendingInstructions,
  type RunState,
  type TaskState,
  unmetNeeds,
  type Wait,
} from '../model/state.ts';
import { isSpent } from './budget.ts';
import { land } from './landing.ts';
import { recordedScarcity, scarcityOn, turnOf } from './machine-limits.ts';
import { type AgentsKnown, isQueued, nextOf } from './next-attempt.ts';
import { refusalOf } from './parking.ts';
import { publishEarly, publishLast } from './publishing.ts';
import { begin, type Look, look, type Starting } from './start-attempts.ts';

export interface Decision {
  readonly record: Event;
  readonly perform?: Effect;
}

export interface Decided {
  readonly decisions: readonly Decision[];
  /** When time alone will make a difference (ms since 1970). */
  readonly wakeAt: number | null;
}

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
  const halted = haltFor(state);
  if (halted.length > 0) return { decisions: halted, wakeAt: null };
  const over = settle(state, agents);
  // What is over now may have been the last: then it is no early publication.
  const landing = [...land(state, agents), ...(over.length === 0 ? publishEarly(state) : [])];
  const settled = [...over, ...release(state), ...landing];
  const seen = begin(state, now, agents, scarcityOn(state, machine, now, agents));
  const begun = seen.starts.map((starting) => attemptDecision(state, starting));
  const decisions: Decision[] = [...settled, ...roomTurn(state, seen), ...begun];
  if (decisions.length === 0) decisions.push(...giveUpRefused(state, seen, agents));
  if (decisions.length === 0) decisions.push(...finish(state, agents));
  return { decisions, wakeAt: seen.wakeAt };
}

/** A broken gate is not the work's fault: the run waits for a person, or ends if there is none. */
function haltFor({ broken, stopping, paused }: RunState): readonly Decision[] {
  if (broken === null || stopping !== null) return [];
  if (broken.attended) {
    return paused === null ? [{ record: { type: 'run.paused', suspended: false } }] : [];
  }
  const why = `gate ${broken.gate} is broken`;
  return [{ record: { type: 'run.stopping', mode: 'drain', why } }];
}

/** Tasks that are over although nothing runs any more: given up, cancelled, or without hope. */
function settle(state: RunState, agents: AgentsKnown): readonly Decision[] {
  const spent = isSpent(state);
  return [...state.tasks.values()].flatMap((task) => {
    const failure = finalFailure(state, task, { agents, spent });
    return failure === null ? [] : taskFailed(task, failure);
  });
}

function taskFailed({ spec }: TaskState, failure: Failure): Decision {
  return { record: { type: 'task.failed', task: spec.id, failure } };
}

function finalFailure(
  state: RunState,
  task: TaskState,
  { agents, spent }: { readonly agents: AgentsKnown; readonly spent: boolean },
): Failure | null {
  const { status, spec } = task;
  if (isOver(task) || status.kind === 'running' || status.kind === 'merging') return null;
  if (task.cancelled || state.stopping?.mode === 'cancel') {
    return { kind: 'cancelled', message: 'Cancelled; its work so far is kept.' };
  }
  if (task.skipped !== null) {
    return { kind: 'skipped', message: 'Given up by a user; its work so far is kept.' };
  }
  const failed = lostNeed(state, task);
  if (failed !== null && !isQueued(state, task, agents)) {
    const word = state.tasks.get(failed)?.skipped ? 'was skipped' : 'failed';
    const message = `${notTried(task)}: it needs ${failed}, which ${word}.`;
    return { kind: 'dependency-failed', message, dependency: failed };
  }
  if (status.kind === 'stopped' && nextOf(state, task, agents)?.kind === 'give-up') {
    return status.failure;
  }
  if (!spent || state.stopping !== null) return null;
  const isFree = isQueued(state, task, agents) || isToAdopt(task);
  if (agents(spec.agent).prose && !isFree) {
    const message = `The run's budget of $${state.plan.limits.budgetUsd} is spent.`;
    return { kind: 'budget', message };
  }
  return null;
}

/** Workspaces that nothing uses any more. */
function release(state: RunState): readonly Decision[] {
  const tasks = [...state.tasks.values()];
  // A conflict to come may want all of them kept.
  if (state.plan.landing.onConflict === 'hold' && !tasks.every(isOver)) return [];
  const unused = tasks.filter((task) => task.workspace === 'live' && isOver(task));
  return unused.map((task) => {
    const record = { type: 'workspace.released', task: task.spec.id } as const;
    return { record, perform: releaseEffect(state, task) };
  });
}

/** Work that the plan brings along; where it did not land and is tried again, once more. */
function adopt(state: RunState): readonly Decision[] {
  const decisions: Decision[] = [];
  if (state.stopping !== null) return decisions;
  for (const task of state.tasks.values()) {
    const { id, work: commit } = task.spec;
    if (commit === undefined || !isToAdopt(task) || task.cancelled || task.skipped !== null)
      continue;
    // A retried task's workspace may be on its way out.
    if (task.workspace === 'released' || unmetNeeds(state, task).length > 0) continue;
    decisions.push({ record: { type: 'work.adopted', task: id, commit } });
  }
  return decisions;
}

function isToAdopt({ spec, status }: TaskState): boolean {
  return spec.work !== undefined && status.kind === 'waiting';
}

/** The effect that ends a task's workspace; repeated after a crash. */
export function releaseEffect(state: RunState, task: TaskState): ReleaseEffect {
  const { base = null } = task.attempts.at(-1) ?? {};
  // Squashed or rebased work is not in the history of the run's branch; only its changes are.
  const landed = task.status.kind === 'landed' && state.plan.landing.strategy === 'merge';
  const isSafe = landed || task.status.kind === 'delivered';
  const safe = [isSafe ? task.work : null, base].filter((commit) => commit !== null);
  const keep = isHeldBack(state) ? { keep: 'a conflict holds the run back' } : {};
  return { kind: 'release', task: task.spec.id, succeeded: isGood(task), safe, ...keep };
}

function attemptDecision(state: RunState, { task, next, budgetUsd }: Starting): Decision {
  const id = task.spec.id;
  const attempt = task.attempts.length + 1;
  const { start } = next;
  const goesOn = start.kind === 'continue';
  const base = goesOn ? (task.attempts.at(-1)?.base ?? state.head) : state.head;
  const reserved = budgetUsd === null ? {} : { budgetUsd };
  const strayed = task.attempts.at(-1)?.astray ?? [];
  const radar = isTold(task) ? { ...state.radar, clashes: [] } : state.radar;
  const foreseen = foreseenFor(radar, { task: id, strayed }, (other) => hasLanded(state, other));
  const by = isSameAssignee(next.by, firstAssignee(task.spec)) ? {} : { by: next.by };
  const tried = triedBefore(task, next.by);
  const instructions = pendingInstructions(task);
  return {
    record: { type: 'attempt.started', task: id, attempt, base, start, ...by, ...reserved },
    perform: {
      kind: 'attempt',
      task: id,
      attempt,
      base,
      start,
      ...by,
      ...(tried.length === 0 ? {} : { tried }),
      before: failureBefore(task),
      ...(instructions.length === 0 ? {} : { instructions }),
      heard: task.spec.hears.map((id) => ({ task: id, text: lastWords(state.tasks.get(id)) })),
      meanwhile: meanwhileOf(state, task),
      ...(foreseen === null ? {} : { foreseen }),
      budgetUsd,
    },
  };
}

/** Why its last attempt or landing failed. Instructions speak for themselves. */
function failureBefore({ status }: TaskState): Failure | null {
  const failure = status.kind === 'stopped' ? status.failure : null;
  return failure?.kind === 'revision' ? null : failure;
}

/** Whether its own failure says what names clash. */
function isTold({ status }: TaskState): boolean {
  return status.kind === 'stopped' && status.failure.kind === 'semantic';
}

/** What the finished work of a task did not fit to. */
function meanwhileOf(state: RunState, { status }: TaskState): readonly Meanwhile[] {
  const failure = status.kind === 'stopped' ? status.failure : null;
  if (failure === null || !('landedSince' in failure)) return [];
  return failure.landedSince.flatMap((id) => {
    const other = state.tasks.get(id);
    if (other === undefined) return [];
    const { spec, attempts } = other;
    const files = attempts.at(-1)?.files ?? [];
    const { prompt } = spec;
    return [{ task: id, title: titleOf(spec), prompt, said: lastWords(other), files }];
  });
}

/** How the attempts of others at this task ended, since it last began with all of its chances. */
function triedBefore(task: TaskState, by: Assignee): readonly Tried[] {
  const since = task.attempts.slice(task.forgiven);
  return assigneesOf(task.spec).flatMap((assignee) => {
    const theirs = since.filter((attempt) => isSameAssignee(attempt.by, assignee));
    const failure = theirs.findLast((attempt) => attempt.failure !== null)?.failure ?? null;
    if (isSameAssignee(assignee, by) || failure === null) return [];
    return [{ by: assignee, times: theirs.length, failure }];
  });
}

/** The fact that the machine begins to keep tasks back, or does not any more. */
function roomTurn(state: RunState, { waits }: Look): readonly Decision[] {
  if (state.stopping !== null || state.paused !== null) return [];
  const shorts = [...waits.values()].filter((wait) => wait.kind === 'room');
  const turn = turnOf(state, shorts);
  return turn === null ? [] : [{ record: turn }];
}

/** Nothing is left to do but for agents that refuse to work: their tasks fail for that reason. */
function giveUpRefused(state: RunState, { waits }: Look, agents: AgentsKnown): readonly Decision[] {
  const isHopeless = ({ kind }: Wait): boolean => kind === 'refusal' || kind === 'needs';
  if (isBusy(state) || ![...waits.values()].every(isHopeless)) return [];
  return [...state.tasks.values()].flatMap((task) => {
    const isBlocked = isOver(task) || unmetNeeds(state, task).length > 0;
    const next = isBlocked ? null : nextOf(state, task, agents);
    const refusal = next?.kind === 'attempt' ? refusalOf(state, next.by.agent) : null;
    if (next?.kind !== 'attempt' || refusal === null) return [];
    return taskFailed(task, refusedFailure(task, next.by.agent, refusal));
  });
}

function refusedFailure(
  refused: TaskState,
  agent: string,
  { task, kind, message }: NonNullable<AgentState['refusal']>,
): Failure {
  const { status, spec } = refused;
  if (status.kind === 'stopped' && task === spec.id) return status.failure;
  const why = `${agent} could not be used (task ${task}): ${message}`;
  return { kind, message: `${notTried(refused)}: ${why}` };
}

function notTried({ status }: TaskState): string {
  return status.kind === 'waiting' ? 'Not started' : 'Not tried again';
}

/** What each task waits for that is neither over nor under way. For screens. */
export function waitsOf(
  state: RunState,
  now: number,
  agents: AgentsKnown,
): ReadonlyMap<TaskId, Wait> {
  return state.outcome === null
    ? look(state, now, agents, recordedScarcity(state)).waits
    : new Map();
}

/** The end: everything is over and tidied up, then published, then said to be finished. */
function finish(state: RunState, agents: AgentsKnown): readonly Decision[] {
  if (isBusy(state)) return [];
  const tasks = [...state.tasks.values()];
  if (state.stopping !== null) {
    const { broken, stopping } = state;
    const queued = tasks.some((task) => isQueued(state, task, agents));
    if (stopping.mode === 'drain' && queued && broken === null) return [];
    if (stopping.mode === 'cancel') return finished('cancelled');
    return finished(broken === null ? 'interrupted' : 'failed');
  }
  if (!tasks.every(isOver)) return [];
  const last = publishLast(state);
  if (last.length > 0) return last;
  if (awaitsApproval(state) && state.attended) return [];
  const isOpen = state.publish.kind === 'blocked' || awaitsApproval(state);
  return finished(tasks.every(isMet) && !isOpen ? 'succeeded' : 'failed');
}

function isBusy({ tasks, landing, publish }: RunState): boolean {
  const isWorking = ({ status, workspace }: TaskState): boolean =>
    status.kind === 'running' || status.kind === 'merging' || workspace === 'released';
  if (landing !== null || publish.kind === 'running') return true;
  for (const task of tasks.values()) if (isWorking(task)) return true;
  return false;
}

function finished(outcome: RunOutcome): readonly Decision[] {
  return [{ record: { type: 'run.finished', outcome } }];
}
