/**
 * The part of the fold that knows candidates: finished work on its way through the landing queue.
 *
 *   merge.started      candidate.built      candidate.verifying     candidate.verified
 *        │                   │                      │                 │          │
 *        ▼                   ▼                      ▼                 ▼          ▼
 *    building ───────────► built ───────────────► running ───────► green        red
 *        │                   │  ▲                                   │  │          │
 *        │                   │  └──── verified again (a first red) ◄┼──┼──────────┤
 *        │                   └── no gate is due ───────────────────►┘  │          │
 *        │                                     merge.landing ──► merge.landed     │
 *        └──► merge.rejected (conflict)                                           └──► merge.rejected
 *
 * From every state `merge.withdrawn` and `gate.broken` take a candidate out of the queue without
 * blame; its work waits and queues again. With `lingers` its gates run on after it has left.
 */

import { assert, unreachable } from '../base/assert.ts';
import type { Event } from './event.ts';
import { SETUP } from './gate.ts';
import type { TaskId } from './plan.ts';
import type { Candidate, GateRun, Lingering, RunState, TaskState } from './state.ts';

/** Writable; only the fold uses it. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] };

export type QueueEvent = Event & {
  type: `candidate.${string}` | `merge.${'started' | 'settled' | 'landing' | 'withdrawn'}`;
};

/** Applies an event that moves work in the queue, or out of it without blame. */
export function applyToQueue(
  state: Draft<RunState>,
  task: Draft<TaskState>,
  event: QueueEvent,
  at: number,
): void {
  switch (event.type) {
    case 'merge.started':
      queueOf(state).push(newCandidate(event));
      task.status = { kind: 'merging', commit: event.commit, onto: event.onto };
      task.settled = [];
      return;
    case 'merge.settled':
      task.settled = event.files;
      return;
    case 'candidate.built':
      return built(state, event);
    case 'candidate.verifying':
      return change(state, event, { isRunning: true, since: at, gate: null });
    case 'candidate.verified':
      forget(state, event);
      return verified(state, event);
    case 'candidate.dropped':
      return forget(state, event);
    case 'merge.landing':
      state.landing = event.commit;
      return;
    case 'merge.withdrawn':
      return withdraw(state, task, event, at);
    default:
      return unreachable(event);
  }
}

/** Which gate is at work on a candidate, or on a publication; and how it ended. */
export function noteGate(
  state: Draft<RunState>,
  event: Event & { type: 'gate.started' | 'gate.finished' },
  at: number,
): void {
  const { task, tree } = event;
  if (event.type === 'gate.finished') prove(state, event);
  if (event.type === 'gate.finished' && task !== null) {
    const { type: _, task: __, ...run } = event;
    const gates = state.tasks.get(task)?.gates;
    assert(gates !== undefined, `the journal names an unknown task: ${task}`);
    (gates as GateRun[]).push(run);
  }
  const gate = event.type === 'gate.started' ? { name: event.gate, at } : null;
  if (task === null) {
    if (state.publish.kind === 'running') state.publish = { ...state.publish, gate };
    return;
  }
  const found = queueOf(state).find((candidate) => candidate.task === task);
  // Work that stays on its branch has no candidate.
  if (found !== undefined && (found.built?.tree ?? tree) === tree) found.gate = gate;
}

/**
 * The work that a broken gate was run on is finished all the same, and waits to land. A gate that
 * was green meanwhile is not broken: it will be run on that work again.
 */
export function breakOff(
  state: Draft<RunState>,
  task: Draft<TaskState>,
  { type: _, ...broken }: Event & { type: 'gate.broken' },
  at: number,
): void {
  if (!state.proven.has(broken.gate)) state.broken = broken;
  leave(state, broken.task);
  if (task.status.kind !== 'merging') return;
  task.status = { kind: 'committed', commit: task.status.commit, at };
}

/** A gate is proven once it was green on files that it looked at. */
function prove(state: RunState, event: Event & { type: 'gate.finished' }): void {
  const { gate, ok, spared } = event;
  const proven = state.proven as Set<string>;
  if (spared === 'paths') return;
  if (ok) proven.add(gate);
  if (gate !== SETUP) proven.add(SETUP);
}

function queueOf(state: RunState): Draft<Candidate>[] {
  return state.queue as Draft<Candidate>[];
}

function newCandidate(event: Event & { type: 'merge.started' }): Candidate {
  const { task, commit, onto, passes } = event;
  return {
    task,
    work: commit,
    onto,
    built: null,
    verdict: 'none',
    looks: 0,
    isRunning: false,
    failure: null,
    ...(passes === undefined ? {} : { passes }),
  };
}

function built(state: RunState, event: Event & { type: 'candidate.built' }): void {
  const { commit, tree, spared } = event;
  const verdict = spared === true ? ({ verdict: 'green' } as const) : {};
  change(state, event, { built: { commit, tree }, ...verdict });
}

/** The gates of a candidate that has left the queue have ended. */
function forget(state: Draft<RunState>, { task, commit }: Lingering): void {
  state.lingering = state.lingering.filter((each) => each.task !== task || each.commit !== commit);
}

/** Does nothing where the candidate has left the queue meanwhile. */
function change(state: RunState, { task, commit }: Lingering, to: Partial<Candidate>): void {
  const found = queueOf(state).find((candidate) => candidate.task === task);
  if (found !== undefined && (found.built ?? to.built)?.commit === commit) Object.assign(found, to);
}

function verified(state: RunState, event: Event & { type: 'candidate.verified' }): void {
  const looks = 1 + (state.queue.find(({ task }) => task === event.task)?.looks ?? 0);
  const { failure } = event;
  const verdict = failure === null ? 'green' : 'red';
  change(state, event, { isRunning: false, gate: null, verdict, looks, failure });
}

function withdraw(
  state: Draft<RunState>,
  task: Draft<TaskState>,
  { ahead, lingers }: Event & { type: 'merge.withdrawn' },
  at: number,
): void {
  const { id } = task.spec;
  const candidate = state.queue.find((each) => each.task === id);
  const going = lingers === true ? lingeringOf(state, id, candidate) : [];
  leave(state, id);
  state.lingering = [...state.lingering, ...going];
  if (task.status.kind !== 'merging') return;
  const { commit } = task.status;
  const avoids = ahead === null ? {} : { avoids: ahead };
  const isOvertaken = candidate?.passes !== undefined && state.stopping === null;
  const overtaken = isOvertaken ? ({ overtaken: true } as const) : {};
  task.status = { kind: 'committed', commit, at, ...avoids, ...overtaken };
}

function lingeringOf(
  { lingering }: RunState,
  task: TaskId,
  candidate: Candidate | undefined,
): readonly Lingering[] {
  const before = lingering.filter((each) => each.task === task);
  const commit = candidate?.isRunning === true ? candidate.built?.commit : undefined;
  return commit === undefined ? before : [...before, { task, commit }];
}

/** Takes a task's candidate out of the queue, with its lingering gates. */
export function leave(state: Draft<RunState>, task: TaskId): void {
  const at = state.queue.findIndex((candidate) => candidate.task === task);
  if (at >= 0) queueOf(state).splice(at, 1);
  state.lingering = state.lingering.filter((each) => each.task !== task);
  const { landing } = state;
  const isThere = state.queue.some(({ built }) => built?.commit === landing);
  if (!isThere) state.landing = null;
}
