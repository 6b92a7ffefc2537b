/**
 * The fold: from the entries of a journal to the state of the run. The only state machine.
 *
 *   F1. `apply` is a pure function of what it was given so far: no clock, no randomness.
 *   F2. `apply` costs the same however many tasks there are, so it updates in place: whoever folds
 *       owns the state it gets back, and hands it out as readonly.
 */

import { assert, unreachable } from '../base/assert.ts';
import type { Entry, Event } from './event.ts';
import type { Failure } from './failure.ts';
import { applyToAgents } from './fold-agents.ts';
import { endAttempt, finishAttempt, lastAttempt, startAttempt } from './fold-attempt.ts';
import { publishAfter } from './fold-publish.ts';
import { applyToQueue, type Draft, leave, noteGate } from './fold-queue.ts';
import { newLimits } from './new-limits.ts';
import type { Sha, TaskId, TaskSpec } from './plan.ts';
import { CLEAR, radarAfter, radarWithout } from './radar.ts';
import {
  isGood,
  isOver,
  type Landing,
  type Rejection,
  type RunState,
  type Status,
  type TaskState,
} from './state.ts';

/** Folds a whole journal. The first entry is always `run.started`. */
export function fold(entries: Iterable<Entry>): RunState {
  let state: RunState | null = null;
  for (const entry of entries) state = apply(state, entry);
  assert(state !== null, 'a journal is never empty');
  return state;
}

/** The state after one more entry. */
export function apply(before: RunState | null, entry: Entry): RunState {
  const { seq, at, event } = entry;
  assert(seq === (before?.seq ?? 0) + 1, `journal gap: entry ${seq} after ${before?.seq ?? 0}`);
  if (before === null) return begin(entry);
  const state = before as Draft<RunState>;
  state.seq = seq;
  state.at = at;
  applyEvent(state, event, at);
  if ('task' in event && event.task !== null) forgetOver(state, event.task);
  applyToAgents(state, event, at);
  return state;
}

function begin({ seq, at, event }: Entry): RunState {
  assert(event.type === 'run.started', `a journal starts with run.started, not ${event.type}`);
  return {
    seq,
    plan: event.plan,
    planHash: event.planHash,
    base: event.base,
    target: event.target,
    head: event.base,
    tasks: new Map(event.plan.tasks.map((spec) => [spec.id, newTask(spec)])),
    agents: new Map(),
    landed: [],
    queue: [],
    landing: null,
    lingering: [],
    radar: CLEAR,
    stopping: null,
    paused: null,
    held: null,
    publish: { kind: 'none' },
    outcome: null,
    startedAt: at,
    finishedAt: null,
    at,
  };
}

function newTask(spec: TaskSpec): TaskState {
  return {
    spec,
    status: { kind: 'waiting' },
    attempts: [],
    reworks: 0,
    forgiven: 0,
    cancelled: false,
    skipped: null,
    retried: null,
    carried: false,
    work: null,
    session: null,
    gates: [],
    settled: [],
    rejections: [],
    proved: null,
    workspace: 'none',
    keptWhy: null,
  };
}

function applyEvent(state: Draft<RunState>, event: Event, at: number): void {
  switch (event.type) {
    case 'run.started':
      return assert(false, 'a run starts once');
    case 'run.resumed':
      return resume(state, event);
    case 'run.stopping':
      state.stopping = { mode: event.mode, why: event.why };
      state.paused = null; // A halted process can neither finish nor end itself.
      state.held = null; // Nothing is to start any more.
      return;
    case 'run.paused':
    case 'run.continued':
      state.paused = event.type === 'run.paused' ? pick(event, 'suspended') : null;
      state.held = null;
      return;
    case 'run.held':
    case 'run.eased':
      state.held = event.type === 'run.held' ? pick(event, 'of', 'why') : null;
      return;
    case 'run.finished':
      state.outcome = event.outcome;
      state.finishedAt = at;
      return;
    case 'publish.started':
    case 'publish.finished':
    case 'publish.blocked':
      state.publish = publishAfter(state, event);
      return;
    case 'radar.conflict':
    case 'radar.cleared':
    case 'radar.semantic':
      state.radar = radarAfter(state.radar, event);
      return;
    case 'gate.started':
    case 'gate.finished':
      return noteGate(state, event, at);
    case 'merge.rejected':
      leave(state, event.task);
      return reject(taskOf(state, event.task), event, at);
    case 'merge.landed':
      return landed(state, event, at);
    case 'work.delivered':
      leave(state, event.task);
      return deliver(taskOf(state, event.task), event, at);
    case 'merge.started':
    case 'merge.settled':
    case 'candidate.built':
    case 'candidate.verifying':
    case 'candidate.verified':
    case 'candidate.dropped':
    case 'merge.landing':
    case 'merge.withdrawn':
      return applyToQueue(state, taskOf(state, event.task), event, at);
    case 'task.retried':
      if (state.publish.kind === 'blocked') state.publish = { kind: 'none' };
      return retry(taskOf(state, event.task), event, at);
    default:
      return applyToTask(taskOf(state, event.task), event, at);
  }
}

function landed(state: Draft<RunState>, event: Event & { type: 'merge.landed' }, at: number): void {
  leave(state, event.task);
  state.head = event.commit;
  (state.landed as Landing[]).push({ ...pick(event, 'task', 'onto', 'commit'), at });
  taskOf(state, event.task).status = { kind: 'landed', commit: event.commit, at };
}

/** Nothing is foreseen for work that is over; what landed may still be in the way of others. */
function forgetOver(state: Draft<RunState>, id: TaskId): void {
  const task = state.tasks.get(id);
  if (task === undefined || !isOver(task)) return;
  const hasLanded = task.status.kind === 'landed';
  const staysFor = (other: TaskId): boolean => hasLanded && !isOver(taskOf(state, other));
  state.radar = radarWithout(state.radar, id, staysFor);
}

function deliver(
  task: Draft<TaskState>,
  event: Event & { type: 'work.delivered' },
  at: number,
): void {
  task.status = { kind: 'delivered', ...pick(event, 'commit', 'branch', 'pushed'), at };
}

type ToTask = Exclude<
  Event,
  {
    type:
      | `run.${string}`
      | `publish.${string}`
      | `merge.${string}`
      | `candidate.${string}`
      | `radar.${string}`
      | `gate.${string}`
      | 'work.delivered'
      | 'task.retried';
  }
>;

function applyToTask(task: Draft<TaskState>, event: ToTask, at: number): void {
  switch (event.type) {
    case 'attempt.started':
      return startAttempt(task, event, at);
    case 'attempt.prepared':
      return; // People want to know; nothing depends on it.
    case 'attempt.session':
      task.session = event.session;
      return;
    case 'attempt.usage':
      Object.assign(lastAttempt(task), pick(event, 'costUsd', 'inputTokens', 'outputTokens'));
      return;
    case 'attempt.denied':
      (lastAttempt(task).denied as string[]).push(event.tool);
      return;
    case 'attempt.strayed':
      Object.assign(lastAttempt(task), { strayed: event.files });
      return;
    case 'scope.strayed':
      if (lastAttempt(task).attempt === event.attempt) lastAttempt(task).astray = event.files;
      return;
    case 'attempt.finished':
      return finishAttempt(task, event, at);
    case 'attempt.failed':
      endAttempt(task, event, at);
      task.status = { kind: 'stopped', failure: event.failure, at, work: null };
      return;
    case 'work.adopted':
      task.work = event.commit;
      task.retried = null;
      task.status = { kind: 'committed', commit: event.commit, at };
      return;
    case 'work.proved': {
      const { type: _, task: __, ...proved } = event;
      task.proved = proved;
      return;
    }
    case 'task.failed':
      task.status = { kind: 'failed', failure: event.failure, at };
      return;
    case 'task.cancelled':
      task.cancelled = true;
      return;
    case 'task.skipped':
      task.skipped = { satisfied: event.satisfied };
      return;
    case 'workspace.released':
    case 'workspace.removed':
      task.workspace = event.type === 'workspace.released' ? 'released' : 'removed';
      return;
    case 'workspace.kept':
      task.workspace = 'kept';
      task.keptWhy = event.why;
      return;
    default:
      unreachable(event);
  }
}

function reject(
  task: Draft<TaskState>,
  { onto, failure }: Event & { type: 'merge.rejected' },
  at: number,
): void {
  const work = task.status.kind === 'merging' ? task.status.commit : null;
  task.status = { kind: 'stopped', failure, at, work };
  if (failure.kind === 'interrupted') return;
  const attempt = task.attempts.length;
  (task.rejections as Rejection[]).push({ attempt, onto, failure, at });
}

/**
 * Back to before the task was given up: finished work queues again, or goes back to its agent where
 * it did not fit; without work the next attempt follows the last one; one that never began waits,
 * and so does work that is to be adopted anew.
 */
function retry(
  task: Draft<TaskState>,
  { fresh }: Event & { type: 'task.retried' },
  at: number,
): void {
  const { status } = task;
  task.retried = { at, fresh };
  if (status.kind === 'failed' || status.kind === 'stopped') {
    task.status = statusBefore(task, status.failure, fresh, at);
    if (task.status.kind === 'committed') task.retried = null;
  }
  giveChance(task);
}

function statusBefore(task: TaskState, failure: Failure, fresh: boolean, at: number): Status {
  const last = task.attempts.at(-1);
  const isAdopted = task.spec.work !== undefined;
  if (last === undefined || (fresh && isAdopted)) return { kind: 'waiting' };
  const work = fresh || last.failure !== null ? null : task.work;
  const misfit = failure.kind === 'conflict' || failure.kind === 'gate-failed';
  if (work !== null && !misfit) return { kind: 'committed', commit: work, at };
  return { kind: 'stopped', failure, at, work };
}

/** A resumed run forgets how it stopped; the tasks named have all their retries again. */
function resume(state: Draft<RunState>, event: Event & { type: 'run.resumed' }): void {
  state.head = event.head ?? state.head;
  state.radar = CLEAR; // Whoever looks now begins anew.
  state.lingering = []; // Their gates ended with the engine.
  state.plan = { ...state.plan, limits: { ...state.plan.limits, ...newLimits(event) } };
  state.stopping = null;
  state.paused = null;
  state.held = null;
  state.outcome = null;
  state.finishedAt = null;
  if (state.publish.kind === 'blocked') state.publish = { kind: 'none' };
  for (const task of state.tasks.values()) (task as Draft<TaskState>).carried = isGood(task);
  for (const id of event.retry) {
    const task = taskOf(state, id);
    task.status = isUnpushed(task)
      ? { kind: 'committed', commit: task.work, at: state.at }
      : { kind: 'waiting' };
    giveChance(task);
  }
}

/** Its work is finished and lacks nothing but the push. */
function isUnpushed(task: TaskState): task is TaskState & { readonly work: Sha } {
  const { status, work } = task;
  return work !== null && status.kind === 'failed' && status.failure.kind === 'push-failed';
}

/** All retries again, whatever somebody had wished before. */
function giveChance(task: Draft<TaskState>): void {
  task.cancelled = false;
  task.skipped = null;
  task.forgiven = task.attempts.length;
  task.reworks = 0;
}

function taskOf(state: RunState, id: TaskId): Draft<TaskState> {
  const task = state.tasks.get(id);
  assert(task !== undefined, `the journal names an unknown task: ${id}`);
  return task;
}

function pick<T, K extends keyof T>(from: T, ...keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}
