/** What happened in a demo, read from its journal: what was caught, retried, and kept apart. */

import type { Entry } from '../../model/event.ts';
import type { Failure } from '../../model/failure.ts';
import { fold } from '../../model/fold.ts';
import type { Sha, TaskId } from '../../model/plan.ts';
import { type Attempt, isGood, type RunState } from '../../model/state.ts';
import { planJson } from '../../report/plan-text.ts';
import { exitCodeOf } from '../../report/summary.ts';
import { ROLES } from './tasks.ts';

/** Work that merged without a conflict, but was red together with what had landed. */
export interface Catch {
  readonly task: TaskId;
  readonly failure: Failure & { kind: 'gate-failed' };
  /** Whether the task had to pass checks of its own first. */
  readonly checked: boolean;
  /** Where it landed in the end, if it did. */
  readonly landed: Sha | null;
}

export interface Retry {
  readonly task: TaskId;
  readonly failure: Failure;
  /** From the failure to the next attempt. */
  readonly pauseMs: number;
}

/** Two tasks that may write the same files, and did run. */
export interface Pair {
  readonly tasks: readonly [TaskId, TaskId];
  readonly ranTogether: boolean;
}

export interface Story {
  readonly state: RunState;
  readonly caught: readonly Catch[];
  readonly retried: readonly Retry[];
  readonly overlapping: readonly Pair[];
}

export function storyOf(entries: readonly Entry[]): Story {
  const state = fold(entries);
  return {
    state,
    caught: entries.flatMap(({ event }) =>
      event.type === 'merge.rejected' && event.failure.kind === 'gate-failed'
        ? [catchOf(state, event.task, event.failure)]
        : [],
    ),
    retried: [...state.tasks.values()].flatMap(({ spec, attempts }) =>
      retriesOf(spec.id, attempts),
    ),
    overlapping: planJson(state.plan).overlaps.flatMap((tasks) => pairOf(state, tasks)),
  };
}

/** How a scripted demo differs from its design; empty where it went as it should. */
export function deviations({ state, caught, retried, overlapping }: Story): readonly string[] {
  const { together, retried: failing, apart } = ROLES;
  const problems = [...state.tasks.values()]
    .filter((task) => !isGood(task))
    .map(({ spec }) => `${spec.id} did not land`);
  if (problems.length === 0 && exitCodeOf(state) !== 0) problems.push('main was not moved');
  const caughtAsMeant = caught.some(
    ({ task, failure }) => task === together.second && failure.landedSince.includes(together.first),
  );
  if (!caughtAsMeant) problems.push(`the gate did not catch ${together.second}`);
  if (!retried.some(({ task }) => task === failing)) problems.push(`${failing} was not retried`);
  const pair = overlapping.find(({ tasks }) => apart.every((id) => tasks.includes(id)));
  if (pair?.ranTogether === true) problems.push(`${apart.join(' and ')} ran together`);
  return problems;
}

function catchOf(state: RunState, task: TaskId, failure: Catch['failure']): Catch {
  const { spec, status } = state.tasks.get(task)!;
  const landed = status.kind === 'landed' ? status.commit : null;
  return { task, failure, checked: spec.checks.length > 0, landed };
}

/** Attempts that failed and were followed by another; a landing that failed is not one of them. */
function retriesOf(task: TaskId, attempts: readonly Attempt[]): readonly Retry[] {
  return attempts.flatMap(({ failure, endedAt }, index) => {
    const next = attempts[index + 1];
    if (failure === null || endedAt === null || next === undefined) return [];
    return [{ task, failure, pauseMs: next.startedAt - endedAt }];
  });
}

function pairOf(state: RunState, tasks: Pair['tasks']): readonly Pair[] {
  const [some = [], others = []] = tasks.map((task) => state.tasks.get(task)?.attempts);
  if (some.length === 0 || others.length === 0) return [];
  return [{ tasks, ranTogether: ranTogether(some, others) }];
}

function ranTogether(some: readonly Attempt[], others: readonly Attempt[]): boolean {
  return some.some((a) =>
    others.some(
      (b) =>
        a.startedAt < (b.endedAt ?? Number.POSITIVE_INFINITY) &&
        b.startedAt < (a.endedAt ?? Number.POSITIVE_INFINITY),
    ),
  );
}
