/**
 * The results of a run in claude-code-orchestrator's formats: its state file, its terminal summary
 * and the table of `status`. A session is named whenever there is one, so that it can be resumed by
 * hand.
 */

import { pullRequestIn } from '../forge/forge.ts';
import { taskBranch } from '../model/names.ts';
import type { Plan } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { columns, PLAIN_INK } from './format.ts';
import { failureOf, resultOf } from './outcome.ts';
import { brief } from './sanitize.ts';

type ResultStatus = 'success' | 'failed' | 'skipped' | 'timeout';

/** One task, with the keys of the state file. */
type ExecutionResult = ReturnType<typeof executionResults>[number];

/** The state file; `timestamp` is local time without a zone. */
export function stateFileText(state: RunState, run: string, timestamp: string): string {
  return `${JSON.stringify({ timestamp, results: executionResults(state, run) }, null, 2)}\n`;
}

export function executionResults(state: RunState, run: string) {
  return [...state.tasks.values()].map((task) => {
    const pr = pullRequestIn(task.attempts.at(-1)?.text ?? '');
    return {
      task_id: task.spec.id,
      status: statusOf(task),
      branch: taskBranch(state.plan.conventions, run, task.spec),
      pr_url: pr?.url ?? null,
      pr_id: pr?.id ?? null,
      error: errorOf(task),
      attempts: task.attempts.length,
      session_id: task.session,
    };
  });
}

export function dryRunResults(plan: Plan): readonly ExecutionResult[] {
  const none = { pr_url: null, pr_id: null, error: null, attempts: 0, session_id: null };
  return plan.tasks.map((task) => {
    const branch = taskBranch(plan.conventions, '', task);
    return { task_id: task.id, status: 'skipped', branch, ...none };
  });
}

const ICONS: Readonly<Record<ResultStatus, string>> = {
  success: '✓',
  failed: '✗',
  skipped: '○',
  timeout: '⏱',
};

export function executionSummary(results: readonly ExecutionResult[]): string {
  const count = (status: ResultStatus): number =>
    results.filter((result) => result.status === status).length;
  const totals = [`${count('success')}/${results.length} completed`];
  if (count('timeout') > 0) totals.push(`${count('timeout')} timed out`);
  if (count('failed') > 0) totals.push(`${count('failed')} failed`);
  const rule = '='.repeat(60);
  return [
    ...[rule, 'EXECUTION SUMMARY', rule, ''],
    ...results.flatMap((result) => [...linesOf(result), '']),
    totals.join(', '),
    '',
  ].join('\n');
}

const MOST_NOTES = 50;

export function executionTable(results: readonly ExecutionResult[]): string {
  const rows = results.map(({ task_id, status, branch, pr_url, error }) => {
    const notes = brief(pr_url ?? error ?? '', MOST_NOTES);
    return [brief(task_id, 120), status, brief(branch, 200), notes];
  });
  const table = [['Task', 'Status', 'Branch', 'Notes'], ...rows];
  const cells = table.map((row) => row.map((text) => ({ text })));
  const ink = { ...PLAIN_INK, width: (text: string) => text.length };
  return `${columns(cells, ink).join('\n')}\n`;
}

function linesOf(result: ExecutionResult): readonly string[] {
  const { status, attempts, pr_url: pr, error, session_id: session } = result;
  const canResume = (status === 'failed' || status === 'timeout') && session !== null;
  return [
    `${ICONS[status]} ${brief(result.task_id, 120)} (${brief(result.branch, 200)})`,
    `  Status: ${status}`,
    ...(attempts > 1 ? [`  Attempts: ${attempts}`] : []),
    ...(pr === null ? [] : [`  PR: ${brief(pr, 300)}`]),
    ...(error === null ? [] : [`  Error: ${brief(error, 300)}`]),
    ...(canResume ? [`  Session ID (for manual resume): ${brief(session, 100)}`] : []),
  ];
}

function statusOf(task: TaskState): ResultStatus {
  const kind = failureOf(task)?.kind;
  if (kind === 'idle-timeout' || kind === 'total-timeout') return 'timeout';
  const result = resultOf(task);
  if (result === 'succeeded') return 'success';
  return result === 'failed' || task.attempts.length > 0 ? 'failed' : 'skipped';
}

function errorOf(task: TaskState): string | null {
  const failure = failureOf(task);
  if (failure === null) return null;
  const attempts = `after ${task.attempts.length} attempt(s)`;
  if (failure.kind === 'idle-timeout') return `Agent timed out (inactivity) ${attempts}`;
  if (failure.kind === 'total-timeout') return `Agent timed out (max_runtime) ${attempts}`;
  return failure.message;
}
