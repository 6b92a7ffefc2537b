/**
 * The results of a run as one machine-readable line per task, in parallel-orchestra's format:
 *
 *   [ok] users (developer) duration=12.34 returncode=0 status=SUCCESS cycles=2 report=z.md
 *   [timeout] login (developer) duration=900.00 returncode=None (total timeout) category=timeout
 *   [skip] docs (writer) skipped: needs login
 *
 * Duration and return code are those of the last attempt. A `reason` explains a failure with return
 * code 0.
 */

import type { Failure, FailureKind } from '../model/failure.ts';
import type { Attempt, RunState, TaskState } from '../model/state.ts';
import { assigneeOf, failureOf, resultOf, retriesOf } from './outcome.ts';
import { brief } from './sanitize.ts';

/** One line per task, in plan order; `quiet` leaves out successful ones. */
export function summaryLines(state: RunState, options: { readonly quiet: boolean }): string[] {
  return [...state.tasks.values()]
    .filter((task) => !options.quiet || task.carried || resultOf(task) !== 'succeeded')
    .map((task) => {
      const name = `${brief(task.spec.id, 120)} (${brief(assigneeOf(task), 120)})`;
      return `[${labelOf(task)}] ${name} ${restOf(state, task)}`;
    });
}

/** parallel-orchestra's failure categories. */
export type Category = 'none' | 'timeout' | 'permanent' | 'rate_limited' | 'transient';

/** Maps a failure to its category; `permanent` needs a person. */
export function categoryOf(kind: FailureKind | null): Category {
  return kind === null ? 'none' : (CATEGORIES[kind] ?? 'permanent');
}

const CATEGORIES: Readonly<Partial<Record<FailureKind, Category>>> = {
  'idle-timeout': 'timeout',
  'total-timeout': 'timeout',
  'rate-limited': 'rate_limited',
  transient: 'transient',
  'exit-code': 'transient',
  interrupted: 'transient',
  turns: 'transient',
  schema: 'transient',
  'no-change': 'transient',
  'checks-failed': 'transient',
};

function labelOf(task: TaskState): 'ok' | 'fail' | 'timeout' | 'skip' {
  const result = resultOf(task);
  if (task.carried) return 'skip';
  if (result === 'succeeded') return 'ok';
  if (result === 'skipped' || task.attempts.length === 0) return 'skip';
  return categoryOf(failureOf(task)?.kind ?? null) === 'timeout' ? 'timeout' : 'fail';
}

function restOf(state: RunState, task: TaskState): string {
  const failure = failureOf(task);
  const attempt = task.attempts.at(-1);
  if (task.carried) return 'resumed';
  if (failure?.kind === 'dependency-failed') {
    return `skipped: needs ${brief(failure.dependency, 120)}`;
  }
  if (attempt === undefined) {
    if (resultOf(task) === 'cancelled') return 'cancelled';
    if (task.skipped !== null) return 'skipped: given up';
    if (failure === null) return 'not started';
    return `${failure.kind}: ${brief(failure.message, 200)}`;
  }
  const { startedAt, endedAt } = attempt;
  const code = returnCodeOf(attempt);
  const retries = retriesOf(task);
  const category = categoryOf(failure?.kind ?? null);
  return [
    `duration=${(Math.max(0, (endedAt ?? state.at) - startedAt) / 1000).toFixed(2)}`,
    `returncode=${code ?? 'None'}`,
    ...(failure?.kind === 'total-timeout' ? ['(total timeout)'] : []),
    ...(failure?.kind === 'idle-timeout' ? ['(idle timeout)'] : []),
    ...(retries > 0 ? [`retries=${retries}`] : []),
    ...(category === 'none' ? [] : [`category=${category}`]),
    ...statusOf(attempt),
    ...reasonOf(attempt, failure, code),
  ].join(' ');
}

/** An agent that reports FAILED has failed, whatever its exit code says. */
function returnCodeOf({ exitCode, status }: Attempt): number | null {
  return exitCode === 0 && status?.status === 'FAILED' ? 1 : exitCode;
}

function statusOf({ status }: Attempt): string[] {
  if (status === null) return [];
  return [
    `status=${brief(status.status, 60)}`,
    ...(status.cycles === undefined ? [] : [`cycles=${status.cycles}`]),
    ...(status.report === undefined
      ? []
      : [`report=${brief(status.report.replace(/.*[/\\]/s, ''), 120)}`]),
    ...(status.concerns === undefined ? [] : [`concerns=${brief(status.concerns, 300)}`]),
  ];
}

function reasonOf({ status }: Attempt, failure: Failure | null, code: number | null): string[] {
  if (status?.reason !== undefined) return [`reason=${brief(status.reason, 300)}`];
  return failure !== null && code === 0 ? [`reason=${brief(failure.message, 300)}`] : [];
}
