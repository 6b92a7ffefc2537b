/**
 * What `landfast status` and `landfast runs` show. A run without an outcome is live; one whose
 * engine died arrives here as interrupted. Text and JSON come from the same rows (task-view.ts).
 */

import type { RunOutcome } from '../model/event.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import type { Publish, RunState, TaskState } from '../model/state.ts';
import { costOf, isGood, isOver, pendingInstructions } from '../model/state.ts';
import { denialsOf } from './denied.ts';
import {
  failedCommand,
  failedCommandLines,
  lastFailureOf,
  tasksWithFailedCommand,
} from './failed-command.ts';
import {
  type Cell,
  columns,
  count,
  dollars,
  durationText,
  type Ink,
  isoTime,
  moneyText,
  nameList,
  PLAIN_INK,
  type Style,
  seconds,
  shortSha,
} from './format.ts';
import { brokenJson, brokenLines } from './gate-problems.ts';
import {
  countResults,
  deliveriesOf,
  EASED_BY,
  heldWord,
  instructionText,
  pauseWord,
  progressText,
  RESULT_ICONS,
  STOPPING_WORDS,
} from './outcome.ts';
import { approvalLines, blockedLines } from './publication.ts';
import { gateText, queueLine, settledTasks, settledText } from './queue.ts';
import { radarLines } from './radar.ts';
import { continueCommand, resumeCommand } from './remedy.ts';
import { brief } from './sanitize.ts';
import { silenceOf, type TaskView, taskView, type ViewContext } from './task-view.ts';

export interface StatusInfo extends ViewContext {
  readonly run: string;
  readonly live: boolean;
  readonly ink?: Ink;
}

export function statusText(state: RunState, info: StatusInfo): string {
  const ink = info.ink ?? PLAIN_INK;
  const context = { ...info, now: momentOf(state, info) };
  const rows = [...state.tasks.values()].map((task) => taskRow(taskView(state, task, context)));
  return `${[
    ...header(state, info, ink),
    '',
    ...columns(rows, ink),
    ...failedLines(state, ink),
    ...footer(state, info, ink),
  ].join('\n')}\n`;
}

export function statusJson(state: RunState, info: StatusInfo) {
  return {
    run: info.run,
    name: state.plan.name,
    outcome: state.outcome,
    live: info.live,
    stopping: state.stopping,
    paused: state.paused,
    held: state.held,
    broken_gate: brokenJson(state),
    started_at: isoTime(state.startedAt),
    finished_at: isoTime(state.finishedAt),
    elapsed_sec: seconds(elapsedMs(state, info)),
    target: state.target,
    base: state.base,
    head: state.head,
    cost_usd: dollars(costOf(state)),
    total: state.tasks.size,
    ...countResults(state),
    landed: state.landed.map(({ task }) => task),
    delivered: deliveriesOf(state).map(({ task, branch, pushed }) => ({ task, branch, pushed })),
    queue: queueOf(state),
    radar: state.radar,
    publish: state.publish,
    tasks: [...state.tasks.values()].map((task) => taskJson(state, task, info)),
  };
}

function taskJson(state: RunState, task: TaskState, info: StatusInfo) {
  const now = momentOf(state, info);
  const view = taskView(state, task, { ...info, now });
  const { wait } = view;
  const silentMs = silenceOf(task, now, info.liveness);
  return {
    workspace: task.workspace,
    kept_why: task.keptWhy,
    id: view.id,
    state: view.word,
    paused: task.paused,
    instructions: task.instructions.map(({ note, comments, answeredBy: answered_by }) => {
      return { note, comments, answered_by };
    }),
    attempt: view.attempt,
    elapsed_sec: seconds(view.elapsedMs),
    cost_usd: dollars(view.costUsd),
    silent_sec: silentMs === null ? null : seconds(silentMs),
    outside_scope: task.attempts.at(-1)?.astray ?? [],
    settled: task.settled,
    denied: denialsOf(task),
    detail: view.detail,
    waits_for: wait && 'until' in wait ? { ...wait, until: isoTime(wait.until) } : wait,
    failed: failedCommand(lastFailureOf(state, task), task.spec.id),
  };
}

/** A plan that has never run, for programs. */
export function pendingJson({ name, tasks }: Plan) {
  const pending = tasks.map(({ id, wave = null }) => ({ id, wave, state: 'pending' }));
  return { run: null, name, outcome: null, tasks: pending };
}

/** A plan that has never run, for people. */
export function pendingText({ name, tasks }: Plan): string {
  const width = Math.max(...tasks.map(({ id }) => id.length));
  const lines = tasks.map(
    ({ id, wave }) =>
      `  ${wave === undefined ? '      ' : `wave ${wave}`}  ${id.padEnd(width)}  pending`,
  );
  return `${[`${name}: no run yet, ${count(tasks.length, 'task')} pending`, ...lines].join('\n')}\n`;
}

export interface RunRow {
  readonly run: string;
  readonly name: string;
  readonly startedAt: number;
  readonly outcome: RunOutcome | 'live' | 'paused';
  readonly good: number;
  readonly failed: number;
  readonly total: number;
  readonly costUsd: number;
}

export function runRow(state: RunState, run: string): RunRow {
  const counts = countResults(state);
  return {
    run,
    name: state.plan.name,
    startedAt: state.startedAt,
    outcome: state.outcome ?? (state.paused === null ? 'live' : 'paused'),
    good: counts.succeeded,
    failed: counts.failed,
    total: state.tasks.size,
    costUsd: costOf(state),
  };
}

/** `time` formats a moment on the user's clock. */
export function runsText(
  rows: readonly RunRow[],
  info: { readonly time: (ms: number) => string; readonly ink?: Ink },
): string {
  if (rows.length === 0) return 'No runs yet.\n';
  const ink = info.ink ?? PLAIN_INK;
  const head = ['RUN', 'PLAN', 'STARTED', 'OUTCOME', 'TASKS', 'COST'];
  const title = head.map((text): Cell => ({ text, style: 'dim' }));
  const lines = rows.map((row): Cell[] => [
    { text: brief(row.run, 60), style: 'bold' },
    { text: brief(row.name, 40) },
    { text: info.time(row.startedAt) },
    { text: row.outcome, style: OUTCOME_STYLES[row.outcome] },
    { text: `${row.good}/${row.total} good${row.failed > 0 ? `, ${row.failed} failed` : ''}` },
    { text: moneyText(row.costUsd) },
  ]);
  return `${columns([title, ...lines], ink).join('\n')}\n`;
}

const OUTCOME_STYLES: Readonly<Record<RunRow['outcome'], Style>> = {
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'warn',
  interrupted: 'warn',
  live: 'accent',
  paused: 'warn',
};

function header(state: RunState, info: StatusInfo, { paint }: Ink): string[] {
  const goal = state.target === null ? '' : `, for ${brief(state.target, 80)}`;
  const head = state.head === null ? '' : `  head ${shortSha(state.head)}${goal}`;
  const elapsed = durationText(elapsedMs(state, info));
  const name = paint('bold', brief(state.plan.name, 60));
  return [
    `${name}  ${brief(info.run, 60)}  ${condition(state)}`,
    paint('dim', `${elapsed}  ${moneyText(costOf(state))}  ${progressText(state)}${head}`),
  ];
}

function condition(state: RunState): string {
  if (state.outcome !== null) return state.outcome;
  if (state.stopping === null) return pauseWord(state) ?? heldWord(state) ?? 'running';
  return `${STOPPING_WORDS[state.stopping.mode]} (${brief(state.stopping.why, 80)})`;
}

function taskRow(view: TaskView): Cell[] {
  const ran = view.attempt > 0;
  return [
    { text: `${view.symbol} ${view.name}`, style: view.style },
    { text: view.word },
    { text: ran ? `#${view.attempt}` : '' },
    { text: ran ? durationText(view.elapsedMs) : '', right: true },
    { text: view.costUsd > 0 ? moneyText(view.costUsd) : '', right: true },
    { text: view.detail },
  ];
}

/** Limit on failed tasks shown with output; the others have their row. */
const MOST_FAILED = 5;

function failedLines(state: RunState, { paint }: Ink): string[] {
  const failed = tasksWithFailedCommand(state);
  const rest = failed.length - MOST_FAILED;
  const blocks = failed.slice(0, MOST_FAILED).flatMap(({ task, failure }) => {
    const lines = failedCommandLines(failedCommand(failure, task.spec.id));
    if (lines.length === 0) return [];
    const name = paint('bad', `${RESULT_ICONS.failed} ${brief(task.spec.id, 60)}`);
    return ['', name, ...lines.map((line) => `    ${line}`)];
  });
  return rest > 0 ? [...blocks, '', `… and ${rest} more: landfast logs TASK`] : blocks;
}

function footer(state: RunState, info: StatusInfo, ink: Ink): string[] {
  const { outcome, held, paused } = state;
  const queue = queueLine(state, momentOf(state, info));
  const resume = ink.paint('accent', resumeCommand(info.run));
  const lines = [
    ...(queue === null ? [] : [`Landing queue: ${queue}`]),
    ...brokenLines(state, { run: info.run, ink }),
    ...settledLines(state),
    ...radarLines(state, ink),
    ...publishLines(state, info, ink.paint),
    ...keptLines(state),
  ];
  if (info.live && held !== null) {
    lines.push(`The run ${heldWord(state)} and continues by itself: ${brief(held.why, 200)}`);
    lines.push(`  ${EASED_BY[held.of]}`);
  }
  if (outcome !== 'succeeded') lines.push(...pausedLines(state, ink.paint));
  lines.push(...instructionLines(state));
  if (info.live && paused !== null && outcome === null) {
    lines.push(`The run is paused. Continue: ${resume}`);
  }
  if (outcome === 'interrupted') lines.push(`No engine is driving this run. Continue: ${resume}`);
  return lines.length === 0 ? [] : ['', ...lines];
}

function settledLines(state: RunState): string[] {
  return settledTasks(state).map(
    ({ task, files }) => `Settled in ${brief(task, 60)}: ${brief(settledText(files), 300)}`,
  );
}

function publishLines(state: RunState, info: StatusInfo, paint: Ink['paint']): string[] {
  const { publish, outcome } = state;
  switch (publish.kind) {
    case 'none':
      return [];
    case 'awaiting':
    case 'approved':
    case 'declined':
      return approvalLines(state, info.run, paint);
    case 'running':
      if (outcome !== null) return [`Publishing ${shortSha(publish.head)} has not finished`];
      return [`Publishing ${shortSha(publish.head)}${publishGate(publish, momentOf(state, info))}`];
    case 'finished':
      return [`Published to ${brief(publish.target, 80)} at ${shortSha(publish.commit)}`];
    case 'blocked':
      return blockedLines('Publishing is blocked:', publish, paint);
  }
}

function pausedLines(state: RunState, paint: Ink['paint']): string[] {
  const open = [...state.tasks.values()].filter((task) => !isOver(task));
  const paused = open.filter((task) => task.paused).map(({ spec }) => spec.id);
  if (paused.length === 0) return [];
  const isAll = open.every((task) => task.paused || task.status.kind === 'waiting');
  const rest = isAll ? ' The run waits for that.' : '';
  const command = paint('accent', continueCommand(paused));
  return [`Paused: ${nameList(paused)}.${rest} Continue: ${command}`];
}

/** Notes and reviews that agents have not answered. */
function instructionLines(state: RunState): string[] {
  return [...state.tasks.values()].flatMap((task) => {
    const texts = pendingInstructions(task).map(instructionText);
    return texts.map((text) => `For ${brief(task.spec.id, 60)}: ${brief(text, 200)}`);
  });
}

function publishGate({ gate = null }: Publish & { kind: 'running' }, now: number): string {
  return gate === null ? '' : `, its combination in ${gateText(gate, now)}`;
}

function keptLines(state: RunState): string[] {
  // Where work that is good has stayed, `worktrees` says: it is no reason to look.
  const kept = [...state.tasks.values()].filter(
    (task) => task.workspace === 'kept' && !isGood(task),
  );
  return kept.map(
    ({ spec, keptWhy }) => `Workspace kept: ${brief(spec.id, 60)} (${brief(keptWhy ?? '', 200)})`,
  );
}

/** Landing tasks, then queued ones, oldest first. */
function queueOf(state: RunState): TaskId[] {
  const tasks = [...state.tasks.values()];
  const since = ({ status }: TaskState) => (status.kind === 'committed' ? status.at : 0);
  return tasks
    .filter(({ status }) => status.kind === 'merging' || status.kind === 'committed')
    .sort((one, other) => since(one) - since(other))
    .map((task) => task.spec.id);
}

function elapsedMs(state: RunState, info: StatusInfo): number {
  return Math.max(0, (state.finishedAt ?? momentOf(state, info)) - state.startedAt);
}

/** Time stands still in a run without an engine. */
function momentOf(state: RunState, info: StatusInfo): number {
  return info.live ? info.now : state.at;
}
