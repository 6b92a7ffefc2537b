/**
 * A run by waves, as Markdown and JSON. A wave has failed if one of its tasks has, and is pending
 * until one has started. Tasks without a wave, such as installing packages, come first.
 */

import { titleOf } from '../model/plan.ts';
import { costOf, type RunState, type TaskState, taskCost } from '../model/state.ts';
import { dollars, isoTime, seconds } from './format.ts';
import { escaped, fence, table } from './markup.ts';
import { assigneeOf, countResults, failureOf, type Result, resultOf, workMs } from './outcome.ts';

export interface WaveInfo {
  readonly run: string;
  /** The subject of the run, such as the id of a specification. */
  readonly subject: string;
}

type WaveStatus = 'completed' | 'failed' | 'running' | 'pending';

interface WaveView {
  /** Null before the first wave. */
  readonly number: number | null;
  readonly tasks: readonly TaskState[];
  readonly status: WaveStatus;
  readonly ms: number;
}

export function wavesJson(state: RunState, { run, subject }: WaveInfo) {
  const { succeeded, failed } = countResults(state);
  return {
    tech_spec_id: subject,
    name: state.plan.name,
    run,
    mode: 'parallel',
    status: statusOfRun(state),
    started_at: isoTime(state.startedAt),
    completed_at: isoTime(state.finishedAt),
    duration_sec: seconds((state.finishedAt ?? state.at) - state.startedAt),
    cost_usd: dollars(costOf(state)),
    tasks_total: state.tasks.size,
    tasks_completed: succeeded,
    tasks_failed: failed,
    waves: wavesOf(state).map(({ number, tasks, status, ms }) => ({
      number,
      status,
      duration_sec: seconds(ms),
      tasks: tasks.map((task) => taskJson(state, task)),
    })),
  };
}

export function wavesMarkdown(state: RunState, { run, subject }: WaveInfo): string {
  const waves = wavesOf(state);
  const rows = waves.map(({ number, tasks, status, ms }) => {
    const names = tasks.map(({ spec }) => escaped(spec.id, 80)).join(', ');
    return [`${number ?? '-'}`, names, status.toUpperCase(), secondsText(ms)];
  });
  const { succeeded, failed, skipped } = countResults(state);
  const left = skipped > 0 ? `, ${skipped} not started` : '';
  return [
    `# Execution report: ${escaped(subject, 120)}`,
    '',
    `- **Started**: ${isoTime(state.startedAt)}`,
    `- **Tech Spec**: ${escaped(subject, 120)}`,
    '- **Mode**: parallel',
    `- **Run**: ${escaped(run, 80)}`,
    '',
    table(['Wave', 'Tasks', 'Status', 'Duration'], rows),
    '',
    ...waves.flatMap((wave) => failures(wave, state)),
    `**Result**: ${succeeded} completed, ${failed} failed${left}`,
    '',
    `**Total duration**: ${secondsText((state.finishedAt ?? state.at) - state.startedAt)}`,
    '',
    `**Completed at**: ${isoTime(state.finishedAt) ?? '-'}`,
    '',
  ].join('\n');
}

function failures({ number, tasks }: WaveView, state: RunState): readonly string[] {
  const failed = tasks.filter((task) => resultOf(task) === 'failed');
  if (failed.length === 0) return [];
  const title = number === null ? '## Before the first wave' : `## Wave ${number}`;
  return [
    title,
    '',
    ...failed.flatMap((task) => [
      `### ${escaped(task.spec.id, 80)}: FAILED`,
      '',
      `- **Agent**: ${escaped(assigneeOf(task), 80)}`,
      `- **Duration**: ${secondsText(workMs(task, state.at))}`,
      '',
      fence(failureOf(task)?.message ?? '', ERROR_LINES),
      '',
    ]),
  ];
}

const ERROR_LINES = 40;

function taskJson(state: RunState, task: TaskState) {
  const last = task.attempts.at(-1);
  const failure = failureOf(task);
  return {
    id: task.spec.id,
    title: titleOf(task.spec),
    agent: assigneeOf(task),
    status: TASK_WORDS[resultOf(task)],
    duration_sec: seconds(workMs(task, state.at)),
    attempts: task.attempts.length,
    commit: task.status.kind === 'landed' ? task.status.commit : null,
    session: task.session,
    cost_usd: dollars(taskCost(task)),
    files: last?.files ?? [],
    answer: last?.status ?? null,
    error: failure && { kind: failure.kind, message: failure.message },
  };
}

const TASK_WORDS: Readonly<Record<Result, string>> = {
  succeeded: 'completed',
  failed: 'failed',
  skipped: 'skipped',
  cancelled: 'cancelled',
  unfinished: 'pending',
};

function statusOfRun(state: RunState): WaveStatus {
  if (state.outcome === null) return 'running';
  const { succeeded } = countResults(state);
  return succeeded === state.tasks.size ? 'completed' : 'failed';
}

function wavesOf(state: RunState): readonly WaveView[] {
  const byWave = Map.groupBy(state.tasks.values(), ({ spec }) => spec.wave ?? null);
  const sorted = [...byWave].sort(([a], [b]) => (a ?? 0) - (b ?? 0));
  return sorted.map(([number, tasks]) => {
    return { number, tasks, status: statusOfWave(tasks), ms: lengthOf(tasks, state.at) };
  });
}

function statusOfWave(tasks: readonly TaskState[]): WaveStatus {
  const results = tasks.map(resultOf);
  if (results.every((result) => result === 'succeeded')) return 'completed';
  if (results.includes('failed')) return 'failed';
  return tasks.some(({ status }) => status.kind === 'running') ? 'running' : 'pending';
}

/** From its first attempt to the end of its last one. */
function lengthOf(tasks: readonly TaskState[], now: number): number {
  const attempts = tasks.flatMap(({ attempts }) => attempts);
  if (attempts.length === 0) return 0;
  const start = Math.min(...attempts.map(({ startedAt }) => startedAt));
  return Math.max(...attempts.map(({ endedAt }) => endedAt ?? now)) - start;
}

function secondsText(ms: number): string {
  return `${(Math.max(0, ms) / 1000).toFixed(1)}s`;
}
