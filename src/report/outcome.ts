/**
 * What became of a task and of the run, in the words all reports share.
 *
 *   O1. Every task has exactly one result, so the counts add up to the number of tasks.
 *   O2. `unfinished` is what a resumed run would take up again: waiting, under way, interrupted.
 */

import { doerName, isSameDoer, ownDoer } from '../model/doer.ts';
import type { StopMode } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Shortage } from '../model/machine.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState, Status, TaskState } from '../model/state.ts';
import { isGood } from '../model/state.ts';
import { brief } from './clean.ts';
import { count, shortSha } from './format.ts';

export type Result = 'succeeded' | 'failed' | 'skipped' | 'cancelled' | 'unfinished';

export const RESULT_ICONS: Readonly<Record<Result, string>> = {
  succeeded: '✓',
  failed: '✗',
  skipped: '⊘',
  cancelled: '⊘',
  unfinished: '↩',
};

export const TOLD_ICONS: Readonly<Record<Told, string>> = { ...RESULT_ICONS, resumed: '↩' };

/** One word for how a run is being stopped. */
export const STOPPING_WORDS: Readonly<Record<StopMode, string>> = {
  drain: 'draining',
  end: 'ending',
  cancel: 'cancelling',
};

/** What became of a task. */
export function resultOf(task: TaskState): Result {
  if (isGood(task)) return 'succeeded';
  if (task.status.kind !== 'failed') return task.cancelled ? 'cancelled' : 'unfinished';
  const { kind } = task.status.failure;
  if (kind === 'dependency-failed' || task.skipped !== null) return 'skipped';
  if (kind === 'cancelled') return 'cancelled';
  return kind === 'interrupted' ? 'unfinished' : 'failed';
}

/** How a pause is called: whether agents go on or are halted. */
export function pauseWord({ paused }: Pick<RunState, 'paused'>): string | null {
  if (paused === null) return null;
  return paused.suspended ? 'paused, agents suspended' : 'paused';
}

/** What a run waits for that the machine is short of. */
export function heldWord({ held }: Pick<RunState, 'held'>): string | null {
  return held === null ? null : `waits for ${SHORT_OF[held.of]}`;
}

/** What there is too little of, in a word or two. */
export const SHORT_OF: Readonly<Record<Shortage, string>> = {
  disk: 'disk space',
  'disk-budget': 'its disk budget',
  memory: 'memory',
  load: 'less load',
};

/** What a person can do about it, if waiting is not enough. */
export const EASED_BY: Readonly<Record<Shortage, string>> = {
  disk: 'Free some space, or end the run and resume it with `--disk-free SIZE`.',
  'disk-budget': '`landfast cleanup` makes room; or end the run and resume it with `--disk SIZE`.',
  memory: 'To start more: end the run and resume it with `--memory-per-attempt SIZE`.',
  load: 'To start more: end the run and resume it with `--load N`.',
};

/** How many tasks have each result. */
export function countResults(state: RunState): Readonly<Record<Result, number>> {
  const counts = { succeeded: 0, failed: 0, skipped: 0, cancelled: 0, unfinished: 0 };
  for (const task of state.tasks.values()) counts[resultOf(task)] += 1;
  return counts;
}

/** What a report calls the outcome of a task; `resumed` is good work of before the run went on. */
export type Told = Result | 'resumed';

/**
 * A task's outcome in the words of a plan's users: those of parallel-orchestra know tasks that were
 * done before as `resumed`, and count them as skipped.
 */
export function toldOf(state: RunState, task: TaskState): Told {
  const result = resultOf(task);
  const isKnown = state.plan.conventions.summary === 'lines';
  return isKnown && task.carried && result === 'succeeded' ? 'resumed' : result;
}

/** How many tasks have each result, as the plan's users count them. */
export function countTold(state: RunState): Readonly<Record<Result, number>> {
  const counts = countResults(state);
  const resumed = [...state.tasks.values()].filter((task) => toldOf(state, task) === 'resumed');
  const { succeeded, skipped } = counts;
  const moved = resumed.length;
  return { ...counts, succeeded: succeeded - moved, skipped: skipped + moved };
}

/** The tasks with one of these results, in the order of the plan. */
export function tasksWith(state: RunState, ...results: readonly Result[]): readonly TaskState[] {
  return [...state.tasks.values()].filter((task) => results.includes(resultOf(task)));
}

/** Why a task is not good: how it ended, or how its last attempt or landing did. */
export function failureOf(task: TaskState): Failure | null {
  const { status } = task;
  return status.kind === 'failed' || status.kind === 'stopped' ? status.failure : null;
}

/** Where work is that stays on its branch: `on branch x (pushed to origin)`. */
export function deliveryText({
  branch,
  pushed,
}: {
  readonly branch: string;
  readonly pushed: string | null;
}): string {
  const remote = pushed === null ? '' : ` (pushed to ${brief(pushed, 60)})`;
  return `on branch ${brief(branch, 120)}${remote}`;
}

/** Tasks whose work stays on its branch, with where that is. */
export function deliveriesOf(state: RunState): readonly Delivery[] {
  return [...state.tasks.values()].flatMap(({ spec, status }) =>
    status.kind === 'delivered' ? [{ ...status, task: spec.id }] : [],
  );
}

export type Delivery = Status & { kind: 'delivered' } & { readonly task: TaskId };

/** How much of the work that tasks may do is where it should be: `landed 2/5`. */
export function progressText({ plan, tasks, landed }: RunState): string {
  const writers = plan.tasks.filter(({ mode }) => mode === 'write').length;
  if (plan.landing.strategy !== 'none') return `landed ${landed.length}/${writers}`;
  const delivered = [...tasks.values()].filter(({ status }) => status.kind === 'delivered').length;
  return `delivered ${delivered}/${writers}`;
}

/** Who does the task, as people name it: its role, else its agent; or the fallback it came to. */
export function doerOf({ spec, attempts }: TaskState): string {
  const by = attempts.at(-1)?.by;
  const isOther = by !== undefined && !isSameDoer(by, ownDoer(spec));
  return isOther ? doerName(by) : (spec.role ?? spec.agent);
}

/** Attempts after the first, since the run was last resumed. */
export function retriesOf(task: TaskState): number {
  return Math.max(0, task.attempts.length - Math.min(task.forgiven, task.attempts.length - 1) - 1);
}

/** The time of all attempts together; an open one counts until `now`. */
export function workMs(task: TaskState, now: number): number {
  return task.attempts.reduce(
    (sum, { startedAt, endedAt }) => sum + Math.max(0, (endedAt ?? now) - startedAt),
    0,
  );
}

/** Tools that were denied to a task, each once, with how often. */
export function deniedTools(task: TaskState): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const tool of task.attempts.flatMap(({ denied }) => denied)) {
    times.set(tool, (times.get(tool) ?? 0) + 1);
  }
  return times;
}

/** Whether something landed that should have reached the target branch and has not. */
export function isUnpublished({ plan, base, head, target, publish }: RunState): boolean {
  const { publish: when, strategy } = plan.landing;
  if (when === 'off' || strategy === 'none' || target === null || head === base) return false;
  return publish.kind !== 'finished' || publish.head !== head;
}

/** How the run went, in one sentence. */
export function outcomeSentence(state: RunState): string {
  return `${tasksClause(state)}${publishClause(state)}.`;
}

function tasksClause(state: RunState): string {
  const counts = countResults(state);
  const total = state.tasks.size;
  const done = `${counts.succeeded} of ${count(total, 'task')} succeeded`;
  switch (state.outcome) {
    case null:
      return `The run is not over: ${done}`;
    case 'cancelled':
      return `The run was cancelled: ${done}`;
    case 'interrupted':
      return `The run was interrupted${stoppedWhy(state)}: ${done}`;
    default:
      if (counts.succeeded < total) return notAll(counts, total);
      return total === 1 ? 'The task succeeded' : `All ${total} tasks succeeded`;
  }
}

function stoppedWhy(state: RunState): string {
  return state.stopping === null ? '' : ` (${brief(state.stopping.why, 80)})`;
}

function notAll(counts: Readonly<Record<Result, number>>, total: number): string {
  const parts = (['failed', 'skipped', 'cancelled', 'unfinished', 'succeeded'] as const)
    .filter((result) => counts[result] > 0)
    .map((result, index) =>
      index === 0
        ? `${counts[result]} of ${count(total, 'task')} ${result}`
        : `${counts[result]} ${result}`,
    );
  return parts.join(', ');
}

function publishClause(state: RunState): string {
  const { publish } = state;
  switch (publish.kind) {
    case 'finished':
      return `; ${brief(publish.target, 80)} is at ${shortSha(publish.commit)}`;
    case 'blocked':
      return '; publishing needs you';
    case 'running':
      return '; publishing has not finished';
    case 'none':
      return state.outcome !== null && isUnpublished(state) ? '; nothing is published yet' : '';
  }
}
