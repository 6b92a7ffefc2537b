/** The part of the fold that is about the landing queue; fold.ts alone calls it. */

import { unreachable } from '../base/assert.ts';
import type { Event } from './event.ts';
import type { Sha, TaskId } from './plan.ts';
import type { Candidate, RunState, TaskState } from './state.ts';

/** What only the fold may write. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] };

export type QueueEvent = Event & {
  type:
    | `candidate.${string}`
    | 'merge.started'
    | 'merge.settled'
    | 'merge.landing'
    | 'merge.withdrawn';
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
      return change(state, event, { built: { commit: event.commit, tree: event.tree } });
    case 'candidate.verifying':
      return change(state, event, { isRunning: true, since: at });
    case 'candidate.verified':
      return verified(state, event);
    case 'merge.landing':
      state.landing = event.commit;
      return;
    case 'merge.withdrawn':
      return withdraw(state, task, event, at);
    default:
      return unreachable(event);
  }
}

function queueOf(state: RunState): Draft<Candidate>[] {
  return state.queue as Draft<Candidate>[];
}

function newCandidate({ task, commit, onto }: Event & { type: 'merge.started' }): Candidate {
  return {
    task,
    work: commit,
    onto,
    built: null,
    verdict: 'none',
    looks: 0,
    isRunning: false,
    failure: null,
  };
}

/** Nothing where the candidate has gone meanwhile: somebody was told too late. */
function change(
  state: RunState,
  { task, commit }: { readonly task: TaskId; readonly commit: Sha },
  to: Partial<Candidate>,
): void {
  const found = queueOf(state).find((candidate) => candidate.task === task);
  if (found !== undefined && (found.built ?? to.built)?.commit === commit) Object.assign(found, to);
}

function verified(state: RunState, event: Event & { type: 'candidate.verified' }): void {
  const looks = 1 + (state.queue.find(({ task }) => task === event.task)?.looks ?? 0);
  const { failure } = event;
  const verdict = failure === null ? 'green' : 'red';
  change(state, event, { isRunning: false, verdict, looks, failure });
}

function withdraw(
  state: Draft<RunState>,
  task: Draft<TaskState>,
  { ahead }: Event & { type: 'merge.withdrawn' },
  at: number,
): void {
  leave(state, task.spec.id);
  if (task.status.kind !== 'merging') return;
  const { commit } = task.status;
  task.status = { kind: 'committed', commit, at, ...(ahead === null ? {} : { avoids: ahead }) };
}

/** Takes a task's candidate out of the queue. */
export function leave(state: Draft<RunState>, task: TaskId): void {
  const at = state.queue.findIndex((candidate) => candidate.task === task);
  if (at >= 0) queueOf(state).splice(at, 1);
  const { landing } = state;
  const isThere = state.queue.some(({ built }) => built?.commit === landing);
  if (!isThere) state.landing = null;
}
