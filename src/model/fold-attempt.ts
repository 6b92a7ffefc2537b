/** The part of the fold that begins and ends attempts; fold.ts alone calls it. */

import { assert } from '../base/assert.ts';
import { ownDoer } from './doer.ts';
import type { Event } from './event.ts';
import type { Draft } from './fold-queue.ts';
import type { TaskSpec } from './plan.ts';
import type { Attempt, TaskState } from './state.ts';

/** A new attempt runs. */
export function startAttempt(
  task: Draft<TaskState>,
  event: Event & { type: 'attempt.started' },
  at: number,
): void {
  const { status, spec } = task;
  const { start } = event;
  // An attempt that goes on with such work after a failure has been counted already.
  const isRejected = status.kind === 'stopped' && status.work !== null;
  if (start.kind === 'rework' && isRejected) task.reworks += 1;
  // What a new session is called is not known yet; the old one is not gone back to.
  if (start.kind === 'fresh' || start.session === null) task.session = null;
  if (spec.mode !== 'here') task.workspace = 'live';
  task.status = { kind: 'running' };
  task.keptWhy = null;
  task.retried = null;
  (task.attempts as Attempt[]).push(newAttempt(event, at, spec));
}

/** The newest attempt has finished work, or had nothing to change. */
export function finishAttempt(
  task: Draft<TaskState>,
  event: Event & { type: 'attempt.finished' },
  at: number,
): void {
  endAttempt(task, event, at);
  const { commit } = event;
  task.work = commit ?? task.work;
  task.status = commit === null ? { kind: 'done', at } : { kind: 'committed', commit, at };
}

/** The newest attempt is over. */
export function endAttempt(
  task: Draft<TaskState>,
  event: Event & { type: 'attempt.finished' | 'attempt.failed' },
  at: number,
): void {
  const attempt = lastAttempt(task);
  attempt.endedAt = at;
  attempt.exitCode = event.exitCode;
  attempt.status = event.status ?? null;
  if (event.type === 'attempt.failed') attempt.failure = event.failure;
  else {
    const { files, outside, text, structured = null } = event;
    Object.assign(attempt, { files, outside, text, structured });
  }
}

/** The newest attempt. */
export function lastAttempt(task: TaskState): Draft<Attempt> {
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
    by: event.by ?? ownDoer(spec),
    base: event.base,
    startedAt: at,
    endedAt: null,
    failure: null,
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
    text: '',
    structured: null,
    status: null,
  };
}
