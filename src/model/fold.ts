/**
 * The fold: from the entries of a journal to the state of the run. The only state machine.
 *
 *                         attempt       merge.started
 *   waiting ──► running ─────────► committed ───► merging ──► landed
 *      ▲          ▲ │ │ finished       ▲  │ ▲        │ │
 *      │  attempt │ │ └──► done        │  │ └────────┤ └────► delivered
 *      │  started │ │ failed           │  │ withdrawn│
 *      │          │ ▼        retried   │  ▼          │ rejected
 *      │        stopped ◄──────────────┘ revision    │
 *      │          │ ▲ ◄──────────────────────────────┘
 *      │ resumed  ▼ │ retried
 *      └──────── failed         (waiting ──► failed when a task it needs has failed)
 *
 * `done` is a read task that succeeded, or a write task that had nothing to change. `delivered` is
 * work that stays on its branch, because the plan wants nothing merged. A `revision` is finished
 * work that a person sends back with a note or a review. Adopted work goes from waiting straight to
 * committed. A task that is given up fails once it neither runs nor merges. candidates.ts draws
 * candidates.
 *
 * `apply` depends on nothing but its arguments, and costs the same however many tasks there are: it
 * updates in place. The caller owns the state it gets back, and hands it out as readonly.
 */

import { assert, unreachable } from '../base/assert.ts';
import { applyToAgents } from './agent-limits.ts';
import { applyToQueue, breakOff, type Draft, leave, noteGate } from './candidates.ts';
import type { Denial, Entry, Event } from './event.ts';
import type { Failure } from './failure.ts';
import {
  firstAssignee,
  type LimitChanges,
  limitChanges,
  type Sha,
  type TaskId,
  type TaskSpec,
  usesCheckout,
} from './plan.ts';
import {
  CLEAR,
  type Finding,
  findingsAfter,
  findingsOnHead,
  radarAfter,
  radarWithout,
} from './radar.ts';
import {
  type Attempt,
  hasLanded,
  type Instruction,
  isGood,
  isOver,
  type Landing,
  type Publish,
  pendingInstructions,
  type Rejection,
  type RunState,
  type Status,
  type TaskState,
  waitsToLand,
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
  foresee(state, event);
  if ('task' in event && event.task !== null) {
    reviseWork(taskOf(state, event.task), at);
    forgetOver(state, event.task);
  }
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
    findings: [],
    stopping: null,
    paused: null,
    attended: event.attended === true,
    held: null,
    proven: new Set(),
    broken: null,
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
    paused: false,
    instructions: [],
    skipped: null,
    removed: false,
    retried: null,
    carried: false,
    work: null,
    mended: false,
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
    case 'run.replanned':
      return replanned(state, event);
    case 'run.stopping':
      return stop(state, event);
    case 'run.paused':
    case 'run.continued':
      return pause(state, event);
    case 'run.limited':
      return limit(state, event);
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
    case 'publish.awaited':
    case 'publish.approved':
    case 'publish.declined':
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
    case 'gate.broken':
      return breakOff(state, taskOf(state, event.task), event, at);
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
      unblock(state);
      return retry(taskOf(state, event.task), event, at);
    default:
      return applyToTask(taskOf(state, event.task), event, at);
  }
}

/** An attempt that continues no other begins on the head, with all that has landed. */
function foresee(state: Draft<RunState>, event: Event): void {
  const { findings } = state;
  if (event.type === 'radar.semantic') state.findings = findingsAfter(findings, event);
  if (event.type !== 'attempt.started' || event.start.kind === 'continue') return;
  // An edit of the plan may have removed the other task.
  state.findings = findingsOnHead(findings, event.task, (id) => hasLanded(state, id));
}

function pause(
  state: Draft<RunState>,
  event: Event & { type: 'run.paused' | 'run.continued' },
): void {
  state.paused = event.type === 'run.paused' ? pick(event, 'suspended') : null;
  if (event.type === 'run.continued') state.broken = null; // Its gate is tried again.
  state.held = null;
}

function landed(state: Draft<RunState>, event: Event & { type: 'merge.landed' }, at: number): void {
  leave(state, event.task);
  state.head = event.commit;
  (state.landed as Landing[]).push({ ...pick(event, 'task', 'onto', 'commit'), at });
  const task = taskOf(state, event.task);
  task.status = { kind: 'landed', commit: event.commit, at };
  useAgain(task);
}

/** A workspace that was kept for its work is used up like any other once that is safe. */
function useAgain(task: Draft<TaskState>): void {
  if (task.workspace !== 'kept') return;
  task.workspace = 'live';
  task.keptWhy = null;
}

/** Nothing is foreseen for work that is over; landed work may still clash with others'. */
function forgetOver(state: Draft<RunState>, id: TaskId): void {
  const task = state.tasks.get(id);
  if (task === undefined || !isOver(task)) return;
  const staysFor = (other: TaskId): boolean =>
    hasLanded(state, id) && !isOver(taskOf(state, other));
  state.radar = radarWithout(state.radar, id, staysFor);
}

function deliver(
  task: Draft<TaskState>,
  event: Event & { type: 'work.delivered' },
  at: number,
): void {
  task.status = { kind: 'delivered', ...pick(event, 'commit', 'branch', 'pushed'), at };
  useAgain(task);
}

type OfTask = 'attempt' | 'scope' | 'task' | 'work' | 'workspace';
type TaskFact = Exclude<
  Event & { type: `${OfTask}.${string}` },
  { type: 'work.delivered' | 'task.retried' }
>;

function applyToTask(task: Draft<TaskState>, event: TaskFact, at: number): void {
  switch (event.type) {
    case 'attempt.started':
      return startAttempt(task, event, at);
    case 'attempt.prepared':
    case 'work.kept':
      return; // For people; nothing depends on it.
    case 'attempt.session':
      task.session = event.session;
      return;
    case 'attempt.usage':
      Object.assign(lastAttempt(task), pick(event, 'costUsd', 'inputTokens', 'outputTokens'));
      return;
    case 'attempt.denied':
      note(lastAttempt(task), event);
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
    case 'work.mended':
      return takeWork(task, event, at);
    case 'work.proved': {
      const { type: _, task: __, ...proved } = event;
      task.proved = proved;
      return;
    }
    case 'task.failed':
      task.status = { kind: 'failed', failure: event.failure, at };
      return;
    case 'task.cancelled':
      task.paused = false;
      task.cancelled = true;
      return;
    case 'task.paused':
    case 'task.continued':
      task.paused = event.type === 'task.paused';
      return;
    case 'task.commented':
      return instruct(task, { note: null, comments: event.comments }, at);
    case 'task.skipped':
      task.paused = false;
      task.skipped = { satisfied: event.satisfied };
      return;
    case 'workspace.released':
      task.workspace = 'released';
      return;
    case 'workspace.removed':
      task.workspace = 'removed';
      if (event.saved !== undefined) task.saved = event.saved;
      return;
    case 'workspace.kept':
      task.workspace = 'kept';
      if (event.saved !== undefined) task.saved = event.saved;
      task.keptWhy = event.why;
      return;
    default:
      unreachable(event);
  }
}

/** Work that no agent of the run has made queues like any other. */
function takeWork(
  task: Draft<TaskState>,
  event: Event & { type: 'work.adopted' | 'work.mended' },
  at: number,
): void {
  task.work = event.commit;
  task.retried = null;
  task.status = { kind: 'committed', commit: event.commit, at };
  if (event.type === 'work.adopted') return;
  task.mended = true;
  lastAttempt(task).files = event.files;
  giveChance(task);
}

function note({ denied }: Attempt, event: Event & { type: 'attempt.denied' }): void {
  const { type: _, task: __, attempt: ___, ...denial } = event;
  (denied as Denial[]).push(denial);
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
 * and so does work that is to be adopted again.
 */
function retry(
  task: Draft<TaskState>,
  { fresh, note }: Event & { type: 'task.retried' },
  at: number,
): void {
  if (note !== undefined) instruct(task, { note, comments: [] }, at);
  const { status } = task;
  task.retried = { at, fresh };
  if (status.kind === 'failed' || status.kind === 'stopped') {
    task.status = statusBefore(task, status.failure, fresh, at);
    if (task.status.kind === 'committed') task.retried = null;
  }
  giveChance(task);
}

/** Failures of finished work that does not fit what landed: its agent has to fix it. */
const MISFITS: ReadonlySet<Failure['kind']> = new Set(['conflict', 'gate-failed', 'semantic']);

function statusBefore(task: TaskState, failure: Failure, fresh: boolean, at: number): Status {
  const last = task.attempts.at(-1);
  const isAdopted = task.spec.work !== undefined;
  if (last === undefined || (fresh && isAdopted)) return { kind: 'waiting' };
  if (isMended(task) && !fresh) return { kind: 'committed', commit: task.work, at };
  const work = fresh || last.failure !== null ? null : task.work;
  const misfit = MISFITS.has(failure.kind);
  if (work !== null && !misfit) return { kind: 'committed', commit: work, at };
  return { kind: 'stopped', failure, at, work };
}

/** A resumed run forgets how it stopped; the tasks named have all their retries again. */
function resume(state: Draft<RunState>, event: Event & { type: 'run.resumed' }): void {
  state.head = event.head ?? state.head;
  state.radar = CLEAR; // The radar of the new engine starts over.
  state.lingering = []; // Their gates ended with the engine.
  limit(state, event);
  state.attended = event.attended === true;
  state.stopping = null;
  state.paused = null;
  state.broken = null;
  state.held = null;
  state.outcome = null;
  state.finishedAt = null;
  unblock(state);
  for (const task of state.tasks.values()) (task as Draft<TaskState>).carried = isGood(task);
  for (const id of event.retry) {
    const task = taskOf(state, id);
    task.retried = null;
    task.status =
      isUnpushed(task) || isMended(task)
        ? { kind: 'committed', commit: task.work, at: state.at }
        : { kind: 'waiting' };
    giveChance(task);
  }
}

/** A blocked publication may be tried again, with the approval it had. */
function unblock(state: Draft<RunState>): void {
  const { publish, plan } = state;
  if (publish.kind !== 'blocked') return;
  const isApproved = plan.landing.publish === 'ask' && publish.head !== null;
  state.publish = isApproved ? { kind: 'approved', head: publish.head } : { kind: 'none' };
}

function limit(state: Draft<RunState>, event: LimitChanges): void {
  state.plan = { ...state.plan, limits: { ...state.plan.limits, ...limitChanges(event) } };
}

function instruct(
  task: Draft<TaskState>,
  what: Pick<Instruction, 'note' | 'comments'>,
  at: number,
): void {
  const instruction = { at, ...what, after: task.attempts.length, answeredBy: null };
  task.instructions = [...task.instructions, instruction];
}

/** Finished work that a person wants changed goes back to its agent, with all retries again. */
function reviseWork(task: Draft<TaskState>, at: number): void {
  const { status } = task;
  const isFinished =
    status.kind === 'committed' || (status.kind === 'stopped' && waitsToLand(status));
  if (!isFinished || pendingInstructions(task).length === 0) return;
  const work = status.kind === 'committed' ? status.commit : status.work;
  const failure = { kind: 'revision', message: 'A person asked for changes.' } as const;
  task.status = { kind: 'stopped', failure, at, work };
  task.forgiven = task.attempts.length;
  task.reworks = 0;
}

function stop(state: Draft<RunState>, event: Event & { type: 'run.stopping' }): void {
  state.stopping = pick(event, 'mode', 'why');
  state.paused = null; // A halted process can neither finish nor end itself.
  state.held = null; // Nothing is to start any more.
}

/** Tasks keep their history; the new plan defines them from now on. */
function replanned(state: Draft<RunState>, event: Event & { type: 'run.replanned' }): void {
  const { plan, planHash, difference } = event;
  const before = state.tasks;
  Object.assign(state, { plan, planHash });
  const known = (spec: TaskSpec): TaskState => {
    const task = before.get(spec.id) as Draft<TaskState> | undefined;
    return task === undefined ? newTask(spec) : Object.assign(task, { spec, removed: false });
  };
  state.tasks = new Map(plan.tasks.map((spec) => [spec.id, known(spec)]));
  for (const id of difference.removed) {
    const task = state.tasks.get(id) as Draft<TaskState> | undefined;
    if (task !== undefined) Object.assign(task, { removed: true, skipped: { satisfied: true } });
  }
  const isThere = ({ a, b }: Finding): boolean => state.tasks.has(a) && state.tasks.has(b);
  state.findings = state.findings.filter(isThere);
}

/** Its work is finished; only the push is missing. */
function isUnpushed(task: TaskState): task is TaskState & { readonly work: Sha } {
  const { status, work } = task;
  return work !== null && status.kind === 'failed' && status.failure.kind === 'push-failed';
}

/** A person has changed its work, which queues as it is: an agent could not redo that. */
function isMended(task: TaskState): task is TaskState & { readonly work: Sha } {
  return task.mended && task.work !== null;
}

/** All retries again, whatever was asked for before. */
function giveChance(task: Draft<TaskState>): void {
  task.cancelled = false;
  task.paused = false;
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

function startAttempt(
  task: Draft<TaskState>,
  event: Event & { type: 'attempt.started' },
  at: number,
): void {
  const { status, spec } = task;
  const { start } = event;
  // An attempt that continues such work after a failure has been counted already.
  const isRejected = status.kind === 'stopped' && status.work !== null;
  const isRevised = isRejected && status.failure.kind === 'revision';
  if (start.kind === 'rework' && isRejected && !isRevised) task.reworks += 1;
  // What a new session is called is not known yet; the old one is not gone back to.
  if (start.kind === 'fresh' || start.session === null) task.session = null;
  if (start.kind === 'fresh') task.mended = false;
  if (!usesCheckout(spec)) task.workspace = 'live';
  task.status = { kind: 'running' };
  task.keptWhy = null;
  task.retried = null;
  (task.attempts as Attempt[]).push(newAttempt(event, at, spec));
}

/** The newest attempt has finished work, or had nothing to change. */
function finishAttempt(
  task: Draft<TaskState>,
  event: Event & { type: 'attempt.finished' },
  at: number,
): void {
  endAttempt(task, event, at);
  const { commit, attempt: answeredBy } = event;
  task.instructions = task.instructions.map((each) =>
    each.answeredBy === null && each.after < answeredBy ? { ...each, answeredBy } : each,
  );
  task.work = commit ?? task.work;
  task.status = commit === null ? { kind: 'done', at } : { kind: 'committed', commit, at };
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
  if (event.type === 'attempt.failed') {
    attempt.failure = event.failure;
    attempt.tip = event.tip ?? null;
  } else {
    const { files, outside, text, structured = null, empty = false } = event;
    Object.assign(attempt, { files, outside, text, structured, empty });
  }
}

function lastAttempt(task: TaskState): Draft<Attempt> {
  const attempt = task.attempts.at(-1);
  assert(attempt !== undefined, `task ${task.spec.id} has no attempt yet`);
  return attempt;
}

/** An attempt of which nothing is known but how it began. */
function newAttempt(
  event: Event & { type: 'attempt.started' },
  at: number,
  spec: TaskSpec,
): Attempt {
  return {
    attempt: event.attempt,
    start: event.start,
    by: event.by ?? firstAssignee(spec),
    base: event.base,
    startedAt: at,
    endedAt: null,
    failure: null,
    tip: null,
    exitCode: null,
    reservedUsd: event.budgetUsd ?? 0,
    costUsd: 0,
    inputTokens: 0,
    outputTokens: 0,
    denied: [],
    strayed: [],
    astray: [],
    files: [],
    outside: [],
    empty: false,
    text: '',
    structured: null,
    status: null,
  };
}

/** The state of the publication after one of its events. */
function publishAfter(state: RunState, event: Event & { type: `publish.${string}` }): Publish {
  if (event.type === 'publish.started') {
    return { kind: 'running', head: event.head, early: event.early === true };
  }
  if (event.type === 'publish.awaited') return { kind: 'awaiting', head: event.head };
  if (event.type === 'publish.approved') return { kind: 'approved', head: event.head };
  if (event.type === 'publish.declined') return { kind: 'declined', head: event.head };
  const { head = state.head, early = false } =
    state.publish.kind === 'running' ? state.publish : {};
  if (event.type === 'publish.blocked') {
    return { kind: 'blocked', head, early, why: event.why, remedy: event.remedy };
  }
  const { type: _, ...how } = event;
  return { kind: 'finished', head, ...how };
}
