/**
 * What comes next for a task that does not run: an attempt, by whom and when, or none.
 *
 *   N1. A task whose agent refuses to work goes to the next of its fallbacks that does not.
 */

import { doersOf, isSameDoer, ownDoer } from '../model/doer.ts';
import type { AttemptStart } from '../model/event.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { refusalOf } from './parking.ts';
import {
  type AgentsKnown,
  handedOver,
  type Next,
  type NextAttempt,
  nextAfter,
  retriedAttempt,
} from './retry.ts';

/** The task's first attempt, or what its stop allows; null while it runs or when it is over. */
export function nextOf(state: RunState, task: TaskState, agents: AgentsKnown): Next | null {
  const next = wished(state, task, agents);
  return next?.kind === 'attempt' ? withoutRefusal(state, task, next) : next;
}

/** Whether its finished work waits to land. */
export function isQueued(state: RunState, task: TaskState, agents: AgentsKnown): boolean {
  const { kind } = task.status;
  if (kind !== 'committed' && kind !== 'stopped') return false;
  if (task.cancelled || task.skipped !== null) return false;
  return kind === 'committed' || nextOf(state, task, agents)?.kind === 'queue';
}

function wished(state: RunState, task: TaskState, agents: AgentsKnown): Next | null {
  const { status, retried, spec } = task;
  if (status.kind === 'waiting') {
    return { kind: 'attempt', at: 0, start: firstStart(state, task), by: ownDoer(spec) };
  }
  if (status.kind !== 'stopped') return null;
  if (retried !== null) return { ...retriedAttempt(task, status, agents), at: retried.at };
  return nextAfter(task, status, state.plan.landing, agents);
}

function firstStart(state: RunState, { spec }: TaskState): AttemptStart {
  const session = spec.forks === undefined ? null : (state.tasks.get(spec.forks)?.session ?? null);
  return session === null ? { kind: 'fresh' } : { kind: 'fresh', fork: session };
}

function withoutRefusal(state: RunState, { spec }: TaskState, next: NextAttempt): NextAttempt {
  if (refusalOf(state, next.by.agent) === null) return next;
  const doers = doersOf(spec);
  const later = doers.slice(doers.findIndex((each) => isSameDoer(each, next.by)) + 1);
  const by = later.find(({ agent }) => refusalOf(state, agent) === null);
  return by === undefined ? next : { ...next, start: handedOver(next.start), by };
}
