/**
 * Results of tasks and runs in the words that all reports share. Every task has exactly one result;
 * `unfinished` is what a resumed run would take up again.
 */

import type { ReviewComment, StopMode } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Shortage } from '../model/machine.ts';
import { assigneeName, firstAssignee, isSameAssignee, type TaskId } from '../model/plan.ts';
import type { Instruction, RunState, Status, TaskState } from '../model/state.ts';
import { isGood } from '../model/state.ts';
import { doubtClause } from './denied.ts';
import { count, shortSha } from './format.ts';
import { clashClause } from './radar.ts';
import { brief } from './sanitize.ts';

export type Result = 'succeeded' | 'failed' | 'skipped' | 'cancelled' | 'unfinished';

export const RESULT_ICONS: Readonly<Record<Result, string>> = {
  succeeded: '✓',
  failed: '✗',
  skipped: '⊘',
  cancelled: '⊘',
  unfinished: '↩',
};

export const REPORTED_ICONS: Readonly<Record<ReportedResult, string>> = {
  ...RESULT_ICONS,
  resumed: '↩',
};

/** One word for how a run is being stopped. */
export const STOPPING_WORDS: Readonly<Record<StopMode, string>> = {
  drain: 'draining',
  end: 'ending',
  cancel: 'cancelling',
};

export function resultOf(task: TaskState): Result {
  if (isGood(task)) return 'succeeded';
  if (task.status.kind !== 'failed') return task.cancelled ? 'cancelled' : 'unfinished';
  const { kind } = task.status.failure;
  if (kind === 'dependency-failed' || task.skipped !== null) return 'skipped';
  if (kind === 'cancelled') return 'cancelled';
  return kind === 'interrupted' ? 'unfinished' : 'failed';
}

/** Names a pause by whether agents continue or are suspended. */
export function pauseWord({ paused }: Pick<RunState, 'paused'>): string | null {
  if (paused === null) return null;
  return paused.suspended ? 'paused, agents suspended' : 'paused';
}

/** The resource that a run waits for. */
export function heldWord({ held }: Pick<RunState, 'held'>): string | null {
  return held === null ? null : `waits for ${SHORT_OF[held.of]}`;
}

/** A scarce resource in a word or two. */
export const SHORT_OF: Readonly<Record<Shortage, string>> = {
  disk: 'disk space',
  'disk-budget': 'its disk budget',
  memory: 'memory',
  load: 'less load',
};

/** What a user can do instead of waiting. */
export const EASED_BY: Readonly<Record<Shortage, string>> = {
  disk: 'Free some space, or end the run and resume it with `--disk-free SIZE`.',
  'disk-budget': '`landfast cleanup` makes room; or end the run and resume it with `--disk SIZE`.',
  memory: 'To start more: end the run and resume it with `--memory-per-attempt SIZE`.',
  load: 'To start more: end the run and resume it with `--load N`.',
};

export function countResults(state: RunState): Readonly<Record<Result, number>> {
  const counts = { succeeded: 0, failed: 0, skipped: 0, cancelled: 0, unfinished: 0 };
  for (const task of state.tasks.values()) counts[resultOf(task)] += 1;
  return counts;
}

/** A task's result as reported; `resumed` is work that succeeded before the run was resumed. */
export type ReportedResult = Result | 'resumed';

/**
 * A task's outcome in the words of a plan's users: those of parallel-orchestra know tasks that were
 * done before as `resumed`, and count them as skipped.
 */
export function reportedResultOf(state: RunState, task: TaskState): ReportedResult {
  const result = resultOf(task);
  const isKnown = state.plan.conventions.summary === 'lines';
  return isKnown && task.carried && result === 'succeeded' ? 'resumed' : result;
}

/** Results as the plan's convention counts them. */
export function countReported(state: RunState): Readonly<Record<Result, number>> {
  const counts = countResults(state);
  const told = [...state.tasks.values()].map((task) => reportedResultOf(state, task));
  const resumed = told.filter((result) => result === 'resumed').length;
  const { succeeded, skipped } = counts;
  return { ...counts, succeeded: succeeded - resumed, skipped: skipped + resumed };
}

export function tasksWith(state: RunState, ...results: readonly Result[]): readonly TaskState[] {
  return [...state.tasks.values()].filter((task) => results.includes(resultOf(task)));
}

/** How a task failed, or how its last attempt or landing did. */
export function failureOf(task: TaskState): Failure | null {
  const { status } = task;
  return status.kind === 'failed' || status.kind === 'stopped' ? status.failure : null;
}

/** `on branch x (pushed to origin)` */
export function deliveryText({ branch, pushed }: Pick<Delivery, 'branch' | 'pushed'>): string {
  const remote = pushed === null ? '' : ` (pushed to ${brief(pushed, 60)})`;
  return `on branch ${brief(branch, 120)}${remote}`;
}

/** Tasks whose work stays on its branch. */
export function deliveriesOf(state: RunState): readonly Delivery[] {
  return [...state.tasks.values()].flatMap(({ spec, status }) =>
    status.kind === 'delivered' ? [{ ...status, task: spec.id }] : [],
  );
}

type Delivery = Status & { kind: 'delivered' } & { readonly task: TaskId };

/** `landed 2/5` */
export function progressText({ plan, tasks, landed }: RunState): string {
  const writers = plan.tasks.filter(({ mode }) => mode === 'write').length;
  if (plan.landing.strategy !== 'none') return `landed ${landed.length}/${writers}`;
  const delivered = [...tasks.values()].filter(({ status }) => status.kind === 'delivered').length;
  return `delivered ${delivered}/${writers}`;
}

/** The task's role, else its agent, or the fallback in use. */
export function assigneeOf({ spec, attempts }: TaskState): string {
  const by = attempts.at(-1)?.by;
  const isOther = by !== undefined && !isSameAssignee(by, firstAssignee(spec));
  return isOther ? assigneeName(by) : (spec.role ?? spec.agent);
}

/** Attempts after the first, since the run was last resumed. */
export function retriesOf(task: TaskState): number {
  return Math.max(0, task.attempts.length - Math.min(task.forgiven, task.attempts.length - 1) - 1);
}

/** Total time of all attempts; an open one counts until `now`. */
export function workMs(task: TaskState, now: number): number {
  return task.attempts.reduce(
    (sum, { startedAt, endedAt }) => sum + Math.max(0, (endedAt ?? now) - startedAt),
    0,
  );
}

/** Whether landed work is still missing from the target branch. */
export function isUnpublished({ plan, base, head, target, publish }: RunState): boolean {
  const { publish: when, strategy } = plan.landing;
  if (when === 'off' || strategy === 'none' || target === null || head === base) return false;
  const isSettled = publish.kind === 'finished' || publish.kind === 'declined';
  return !isSettled || publish.head !== head;
}

export function outcomeSentence(state: RunState): string {
  return `${tasksClause(state)}${doubtClause(state)}${clashClause(state)}${publishClause(state)}.`;
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
    case 'interrupted': {
      const why = state.stopping === null ? '' : ` (${brief(state.stopping.why, 80)})`;
      return `The run was interrupted${why}: ${done}`;
    }
    default:
      if (counts.succeeded < total) return notAll(counts, total);
      return total === 1 ? 'The task succeeded' : `All ${total} tasks succeeded`;
  }
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
    case 'awaiting':
      return '; publishing waits for your approval';
    case 'declined':
      return '; publishing was declined';
    case 'approved':
    case 'running':
      return '; publishing has not finished';
    case 'none':
      return state.outcome !== null && isUnpublished(state) ? '; nothing is published yet' : '';
  }
}

/** What a person told an agent, in one line. */
export function instructionText(told: Pick<Instruction, 'note' | 'comments'>): string {
  const { note, comments } = told;
  if (note !== null) return `note: ${note}`;
  const [first] = comments.map((comment) => `${placeOf(comment)}${comment.text}`);
  const more = comments.length > 1 ? ` (and ${comments.length - 1} more)` : '';
  return `review: ${first ?? ''}${more}`;
}

function placeOf({ path, line }: ReviewComment): string {
  if (path === null) return '';
  return line === undefined ? `${path}: ` : `${path}:${line}: `;
}
