/**
 * RunState: everything that is known of a run, folded from its entries. The only state machine.
 *
 *   waiting ──► running ──► committed ──► merging ──► landed
 *                 │  ▲ │                     │
 *           retry ▼  │ └──► done             │ rejected
 *               stopped ◄────────────────────┘
 *                 └──► failed               (waiting ──► failed when a needed task failed)
 *
 * `done` is a read task that succeeded, or a write task that had nothing to change.
 *
 *   S1. `apply` is a pure function of what it was given so far: no clock, no randomness.
 *   S2. `apply` costs the same however many tasks there are, so it updates in place. Nobody else
 *       writes: outside this file all of it is readonly.
 *   S3. Ready, blocked, progress and time left are computed from it and never stored.
 */

import { assert, unreachable } from '../base/assert.ts';
import type { AttemptStart, Entry, Event, RunOutcome, StatusLine, StopMode } from './event.ts';
import type { Failure } from './failure.ts';
import type { Plan, Sha, TaskId, TaskSpec } from './plan.ts';

export interface RunState {
  readonly seq: number;
  readonly plan: Plan;
  readonly planHash: string;
  readonly base: Sha | null;
  readonly target: string | null;
  /** Where the run's branch is: `base` plus all that has landed. */
  readonly head: Sha | null;
  readonly tasks: ReadonlyMap<TaskId, TaskState>;
  /** In the order of landing. */
  readonly landed: readonly Landing[];
  readonly stopping: { readonly mode: StopMode; readonly why: string } | null;
  readonly publish: Publish;
  readonly outcome: RunOutcome | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** The time of the last entry. */
  readonly at: number;
}

export interface TaskState {
  readonly spec: TaskSpec;
  readonly status: Status;
  readonly attempts: readonly Attempt[];
  /** How often finished work went back because it did not land. */
  readonly reworks: number;
  /** Attempts that do not count against `retries`: from before the run was resumed. */
  readonly forgiven: number;
  readonly cancelled: boolean;
  /** The newest session of the task's agent. */
  readonly session: string | null;
  readonly gates: readonly GateRun[];
  readonly workspace: 'none' | 'live' | 'released' | 'removed' | 'kept';
  readonly keptWhy: string | null;
}

export type Status =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running' }
  | {
      readonly kind: 'stopped';
      readonly failure: Failure;
      readonly at: number;
      readonly work: Sha | null;
    }
  | { readonly kind: 'committed'; readonly commit: Sha; readonly at: number }
  | { readonly kind: 'merging'; readonly commit: Sha; readonly onto: Sha }
  | { readonly kind: 'landed'; readonly commit: Sha; readonly at: number }
  | { readonly kind: 'done'; readonly at: number }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly at: number };

export interface Attempt {
  readonly attempt: number;
  readonly start: AttemptStart;
  readonly base: Sha | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly failure: Failure | null;
  readonly exitCode: number | null;
  readonly costUsd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly denied: readonly string[];
  readonly files: readonly string[];
  readonly outside: readonly string[];
  readonly text: string;
  readonly status: StatusLine | null;
}

export interface GateRun {
  readonly gate: string;
  readonly tree: Sha;
  readonly ok: boolean;
  readonly ms: number;
  readonly output: string;
}

export interface Landing {
  readonly task: TaskId;
  readonly onto: Sha;
  readonly commit: Sha;
  readonly at: number;
}

export type Publish =
  | { readonly kind: 'none' }
  | { readonly kind: 'running'; readonly head: Sha }
  | {
      readonly kind: 'finished';
      /** What of the run is published: more may land after a resume. */
      readonly head: Sha | null;
      readonly target: string;
      readonly commit: Sha;
      readonly checkout: 'followed' | 'none';
    }
  | { readonly kind: 'blocked'; readonly why: string; readonly remedy: string };

/** True when nothing more will happen to the task, unless the run is resumed. */
export function isOver(task: TaskState): boolean {
  return isGood(task) || task.status.kind === 'failed';
}

/** True when tasks that need this one may start. */
export function isGood(task: TaskState): boolean {
  return task.status.kind === 'landed' || task.status.kind === 'done';
}

/** What all attempts of all tasks have cost so far. */
export function costOf(state: RunState): number {
  let sum = 0;
  for (const task of state.tasks.values()) sum += taskCost(task);
  return sum;
}

/** What all attempts of one task have cost so far. */
export function taskCost(task: TaskState): number {
  return task.attempts.reduce((sum, { costUsd }) => sum + costUsd, 0);
}

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
  return state;
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

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
    landed: [],
    stopping: null,
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
    session: null,
    gates: [],
    workspace: 'none',
    keptWhy: null,
  };
}

function applyEvent(state: Draft<RunState>, event: Event, at: number): void {
  switch (event.type) {
    case 'run.started':
      return assert(false, 'a run starts once');
    case 'run.resumed':
      return resume(state, event.retry);
    case 'run.stopping':
      state.stopping = { mode: event.mode, why: event.why };
      return;
    case 'run.finished':
      state.outcome = event.outcome;
      state.finishedAt = at;
      return;
    case 'publish.started':
      state.publish = { kind: 'running', head: event.head };
      return;
    case 'publish.finished':
      state.publish = {
        kind: 'finished',
        head: state.publish.kind === 'running' ? state.publish.head : state.head,
        ...pick(event, 'target', 'commit', 'checkout'),
      };
      return;
    case 'publish.blocked':
      state.publish = { kind: 'blocked', why: event.why, remedy: event.remedy };
      return;
    case 'gate.finished':
      if (event.task !== null) addGate(taskOf(state, event.task), event);
      return;
    case 'merge.landed':
      state.head = event.commit;
      (state.landed as Landing[]).push({ ...pick(event, 'task', 'onto', 'commit'), at });
      taskOf(state, event.task).status = { kind: 'landed', commit: event.commit, at };
      return;
    default:
      return applyToTask(taskOf(state, event.task), event, at);
  }
}

type ToTask = Exclude<
  Event,
  { type: `run.${string}` | `publish.${string}` | 'gate.finished' | 'merge.landed' }
>;

function applyToTask(task: Draft<TaskState>, event: ToTask, at: number): void {
  switch (event.type) {
    case 'attempt.started':
      task.status = { kind: 'running' };
      task.workspace = 'live';
      task.keptWhy = null;
      if (event.start.kind === 'rework') task.reworks += 1;
      if (event.start.kind === 'fresh') task.session = null;
      (task.attempts as Attempt[]).push(newAttempt(event, at));
      return;
    case 'attempt.session':
      task.session = event.session;
      return;
    case 'attempt.usage':
      Object.assign(lastAttempt(task), pick(event, 'costUsd', 'inputTokens', 'outputTokens'));
      return;
    case 'attempt.denied':
      (lastAttempt(task).denied as string[]).push(event.tool);
      return;
    case 'attempt.finished':
      endAttempt(task, event, at);
      task.status =
        event.commit === null
          ? { kind: 'done', at }
          : { kind: 'committed', commit: event.commit, at };
      return;
    case 'attempt.failed':
      endAttempt(task, event, at);
      task.status = { kind: 'stopped', failure: event.failure, at, work: null };
      return;
    case 'merge.started':
      task.status = { kind: 'merging', commit: event.commit, onto: event.onto };
      return;
    case 'merge.rejected': {
      const work = task.status.kind === 'merging' ? task.status.commit : null;
      task.status = { kind: 'stopped', failure: event.failure, at, work };
      return;
    }
    case 'task.failed':
      task.status = { kind: 'failed', failure: event.failure, at };
      return;
    case 'task.cancelled':
      task.cancelled = true;
      return;
    case 'workspace.released':
      task.workspace = 'released';
      return;
    case 'workspace.removed':
      task.workspace = 'removed';
      return;
    case 'workspace.kept':
      task.workspace = 'kept';
      task.keptWhy = event.why;
      return;
    default:
      unreachable(event);
  }
}

/** A resumed run forgets how it stopped; the tasks named have all their retries again. */
function resume(state: Draft<RunState>, retry: readonly TaskId[]): void {
  state.stopping = null;
  state.outcome = null;
  state.finishedAt = null;
  if (state.publish.kind === 'blocked') state.publish = { kind: 'none' };
  for (const id of retry) {
    const task = taskOf(state, id);
    task.status = { kind: 'waiting' };
    task.cancelled = false;
    task.forgiven = task.attempts.length;
    task.reworks = 0;
  }
}

function newAttempt(event: Event & { type: 'attempt.started' }, at: number): Attempt {
  return {
    attempt: event.attempt,
    start: event.start,
    base: event.base,
    startedAt: at,
    endedAt: null,
    failure: null,
    exitCode: null,
    costUsd: 0,
    inputTokens: 0,
    outputTokens: 0,
    denied: [],
    files: [],
    outside: [],
    text: '',
    status: null,
  };
}

function endAttempt(
  task: Draft<TaskState>,
  event: Event & { type: 'attempt.finished' | 'attempt.failed' },
  at: number,
): void {
  const attempt = lastAttempt(task);
  attempt.endedAt = at;
  attempt.exitCode = event.exitCode;
  attempt.status = event.status ?? null;
  if (event.type === 'attempt.failed') attempt.failure = event.failure;
  else Object.assign(attempt, pick(event, 'files', 'outside', 'text'));
}

function addGate(task: Draft<TaskState>, event: Event & { type: 'gate.finished' }): void {
  (task.gates as GateRun[]).push(pick(event, 'gate', 'tree', 'ok', 'ms', 'output'));
}

function lastAttempt(task: TaskState): Draft<Attempt> {
  const attempt = task.attempts.at(-1);
  assert(attempt !== undefined, `task ${task.spec.id} has no attempt yet`);
  return attempt;
}

function taskOf(state: RunState, id: TaskId): Draft<TaskState> {
  const task = state.tasks.get(id);
  assert(task !== undefined, `the journal names an unknown task: ${id}`);
  return task;
}

function pick<T, K extends keyof T>(from: T, ...keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}
