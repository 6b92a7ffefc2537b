/**
 * What `landfast collect` shows: the result of each finished task and the end of its agent's last
 * words. It follows from the journal alone.
 */

import { isOver, lastWords, type RunState, type TaskState, taskCost } from '../model/state.ts';
import { denialsOf, deniedOf, doubtOf } from './denied.ts';
import { failedCommand, failedCommandLines } from './failed-command.ts';
import type { Ink, Style } from './format.ts';
import { count, dollars, durationText, moneyText, PLAIN_INK, seconds, shortSha } from './format.ts';
import { failureOf, RESULT_ICONS, type Result, resultOf, workMs } from './outcome.ts';
import { branchOf, hasKeptWork } from './remedy.ts';
import { brief, tail } from './sanitize.ts';

export interface ResultsInfo {
  readonly run: string;
  readonly live: boolean;
  readonly ink?: Ink;
}

/** The results so far; once the run is over, including unfinished tasks. */
export function resultsJson(state: RunState, { run, live }: ResultsInfo) {
  const over = [...state.tasks.values()].filter((task) => isOver(task) || state.outcome !== null);
  return {
    run,
    outcome: state.outcome,
    live,
    total: state.tasks.size,
    tasks: over.map((task) => taskResult(state, task, run)),
  };
}

export function resultsText(state: RunState, info: ResultsInfo): string {
  const ink = info.ink ?? PLAIN_INK;
  const { tasks, total } = resultsJson(state, info);
  const blocks = tasks.map((result) => {
    const task = state.tasks.get(result.task);
    const denied = task === undefined ? [] : deniedOf(state, task);
    return [...block(result, ink), ...denied.map((line) => `    ${line}`)].join('\n');
  });
  const rest = total - tasks.length;
  if (rest > 0) blocks.push(`${count(rest, 'task is', 'tasks are')} not over yet.`);
  return `${blocks.join('\n\n')}\n`;
}

const WORDS_CHARS = 4_000;
const WORDS_LINES = 12;

/** `commit` has landed, or is on `branch`; `text` is the end of the agent's last words. */
function taskResult(state: RunState, task: TaskState, run: string) {
  const failure = failureOf(task);
  const { status } = task;
  const landed = status.kind === 'landed';
  const hasWork = task.work !== null || hasKeptWork(state, task);
  return {
    task: task.spec.id,
    status: resultOf(task),
    duration_sec: seconds(workMs(task, state.at)),
    cost_usd: dollars(taskCost(task)),
    attempts: task.attempts.length,
    landed,
    commit: landed ? status.commit : task.work,
    branch: hasWork && !landed ? branchOf(state, task, { run }) : null,
    failure: failure && { kind: failure.kind, message: failure.message },
    failed: failedCommand(failure, task.spec.id),
    denied: denialsOf(task),
    doubt: doubtOf(state, task),
    text: lastWords(task).slice(-WORDS_CHARS),
  };
}

function block(result: ReturnType<typeof taskResult>, { paint }: Ink): string[] {
  const { task, status, failure, failed, commit, branch, landed, text } = result;
  const name = paint(STYLES[status], `${RESULT_ICONS[status]} ${brief(task, 60)}`);
  const words = tail(text, WORDS_LINES, WORDS_CHARS);
  const at = commit === null ? '' : ` at ${shortSha(commit)}`;
  return [
    `${name}  ${status}  ${durationText(result.duration_sec * 1000)}  ${moneyText(result.cost_usd)}`,
    ...(failure === null ? [] : [`    ${failure.kind}: ${brief(failure.message, 160)}`]),
    ...failedCommandLines(failed).map((line) => `    ${line}`),
    ...(landed && commit !== null ? [`    landed as ${shortSha(commit)}`] : []),
    ...(branch === null ? [] : [`    on branch ${brief(branch, 120)}${at}`]),
    ...(words === '' ? [] : words.split('\n').map((line) => `    | ${line}`)),
  ];
}

const STYLES: Readonly<Record<Result, Style>> = {
  succeeded: 'good',
  failed: 'bad',
  skipped: 'warn',
  cancelled: 'warn',
  unfinished: 'warn',
};
