/**
 * What `landfast status` and `landfast runs` show: a run as it stands, and a list of runs.
 *
 *   U1. A run without an outcome is either live or left behind; the second says how to go on.
 *   U2. Text and JSON are made from the same rows (task-view.ts) and so cannot disagree.
 */

import type { RunOutcome } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import type { Publish, RunState, TaskState } from '../model/state.ts';
import { costOf } from '../model/state.ts';
import type { Wait } from '../model/wait.ts';
import { brief, clean } from './clean.ts';
import type { Cell, Ink, Style } from './format.ts';
import {
  columns,
  dollars,
  durationText,
  isoTime,
  moneyText,
  PLAIN_INK,
  seconds,
  shortSha,
} from './format.ts';
import {
  countResults,
  deliveriesOf,
  EASED_BY,
  heldWord,
  pauseWord,
  progressText,
  STOPPING_WORDS,
} from './outcome.ts';
import { queueLine } from './queue-line.ts';
import { gateText } from './queue-text.ts';
import { radarLines } from './radar.ts';
import { resumeCommand } from './remedy.ts';
import { settledTasks, settledText } from './settled.ts';
import type { Hearing, TaskView, Waits } from './task-view.ts';
import { silenceOf, taskView } from './task-view.ts';

export interface StatusInfo {
  readonly run: string;
  readonly now: number;
  /** Whether an engine is working on the run. */
  readonly live: boolean;
  readonly ink?: Ink;
  readonly actions?: ReadonlyMap<TaskId, string>;
  /** What tasks wait for, as the scheduler has it. */
  readonly waits?: Waits;
  /** A time of day on the user's clock. */
  readonly clock?: (at: number) => string;
  readonly hearing?: Hearing;
}

/** A run as it stands, for people. */
export function statusText(state: RunState, info: StatusInfo): string {
  const ink = info.ink ?? PLAIN_INK;
  const rows = viewsOf(state, info).map((view) => taskRow(view));
  return `${[
    ...header(state, info, ink),
    '',
    ...columns(rows, ink),
    ...footer(state, info, ink),
  ].join('\n')}\n`;
}

/** A run as it stands, for programs. */
export function statusJson(state: RunState, info: StatusInfo) {
  const counts = countResults(state);
  return {
    run: info.run,
    name: state.plan.name,
    outcome: state.outcome,
    live: info.live,
    stopping: state.stopping,
    paused: state.paused,
    held: state.held,
    started_at: isoTime(state.startedAt),
    finished_at: isoTime(state.finishedAt),
    elapsed_sec: seconds(elapsedMs(state, info)),
    target: state.target,
    base: state.base,
    head: state.head,
    cost_usd: dollars(costOf(state)),
    total: state.tasks.size,
    ...counts,
    landed: state.landed.map(({ task }) => task),
    delivered: deliveriesOf(state).map(({ task, branch, pushed }) => ({ task, branch, pushed })),
    queue: queueOf(state),
    radar: state.radar,
    publish: state.publish,
    tasks: viewsOf(state, info).map((view) => ({
      workspace: state.tasks.get(view.id)?.workspace ?? 'none',
      kept_why: state.tasks.get(view.id)?.keptWhy ?? null,
      id: view.id,
      state: view.word,
      attempt: view.attempt,
      elapsed_sec: seconds(view.elapsedMs),
      cost_usd: dollars(view.costUsd),
      silent_sec: silentSeconds(state, view.id, info),
      outside_scope: state.tasks.get(view.id)?.attempts.at(-1)?.astray ?? [],
      settled: state.tasks.get(view.id)?.settled ?? [],
      detail: view.detail,
      waits_for: view.wait && waitJson(view.wait),
    })),
  };
}

function waitJson(wait: Wait) {
  return 'until' in wait ? { ...wait, until: isoTime(wait.until) } : wait;
}

/** One run in a list. */
export interface RunRow {
  readonly run: string;
  readonly name: string;
  readonly startedAt: number;
  readonly outcome: RunOutcome | 'live' | 'paused' | 'unfinished';
  readonly good: number;
  readonly failed: number;
  readonly total: number;
  readonly costUsd: number;
}

/** A run's row in the list of runs. */
export function runRow(state: RunState, info: { run: string; live: boolean }): RunRow {
  const counts = countResults(state);
  return {
    run: info.run,
    name: state.plan.name,
    startedAt: state.startedAt,
    outcome: state.outcome ?? (info.live ? liveWord(state) : 'unfinished'),
    good: counts.succeeded,
    failed: counts.failed,
    total: state.tasks.size,
    costUsd: costOf(state),
  };
}

function liveWord({ paused }: RunState): 'live' | 'paused' {
  return paused === null ? 'live' : 'paused';
}

/** The list of runs; `time` is how the user's clock would show a moment. */
export function runsText(
  rows: readonly RunRow[],
  info: { readonly time: (ms: number) => string; readonly ink?: Ink },
): string {
  if (rows.length === 0) return 'No runs yet.\n';
  const ink = info.ink ?? PLAIN_INK;
  const head = ['RUN', 'PLAN', 'STARTED', 'OUTCOME', 'TASKS', 'COST'];
  const lines = rows.map((row): Cell[] => [
    { text: brief(row.run, 60), style: 'bold' },
    { text: brief(row.name, 40) },
    { text: info.time(row.startedAt) },
    { text: row.outcome, style: OUTCOME_STYLES[row.outcome] },
    { text: tasksCell(row) },
    { text: moneyText(row.costUsd) },
  ]);
  const title = head.map((text): Cell => ({ text, style: 'dim' }));
  return `${columns([title, ...lines], ink).join('\n')}\n`;
}

const OUTCOME_STYLES: Readonly<Record<RunRow['outcome'], Style>> = {
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'warn',
  interrupted: 'warn',
  live: 'accent',
  paused: 'warn',
  unfinished: 'warn',
};

function tasksCell({ good, failed, total }: RunRow): string {
  return `${good}/${total} good${failed > 0 ? `, ${failed} failed` : ''}`;
}

function viewsOf(state: RunState, info: StatusInfo): TaskView[] {
  const context = {
    now: momentOf(state, info),
    actions: info.actions ?? new Map<TaskId, string>(),
    ...(info.waits === undefined ? {} : { waits: info.waits }),
    ...(info.clock === undefined ? {} : { clock: info.clock }),
    ...(info.hearing === undefined ? {} : { hearing: info.hearing }),
  };
  return [...state.tasks.values()].map((task) => taskView(state, task, context));
}

function silentSeconds(state: RunState, id: TaskId, info: StatusInfo): number | null {
  const task = state.tasks.get(id);
  const ms = task === undefined ? null : silenceOf(task, momentOf(state, info), info.hearing);
  return ms === null ? null : seconds(ms);
}

function header(state: RunState, info: StatusInfo, { paint }: Ink): string[] {
  const goal = state.target === null ? '' : `, for ${brief(state.target, 80)}`;
  const head = state.head === null ? '' : `  head ${shortSha(state.head)}${goal}`;
  const elapsed = durationText(elapsedMs(state, info));
  const name = paint('bold', brief(state.plan.name, 60));
  return [
    `${name}  ${brief(info.run, 60)}  ${condition(state, info)}`,
    paint('dim', `${elapsed}  ${moneyText(costOf(state))}  ${progressText(state)}${head}`),
  ];
}

function condition(state: RunState, { live }: StatusInfo): string {
  if (state.outcome !== null) return state.outcome;
  if (!live) return 'left behind';
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

function footer(state: RunState, info: StatusInfo, ink: Ink): string[] {
  const { paint } = ink;
  const lines: string[] = [];
  const queue = queueLine(state, momentOf(state, info));
  if (queue !== null) lines.push(`Landing queue: ${queue}`);
  lines.push(...settledLines(state));
  lines.push(...radarLines(state, ink));
  lines.push(...publishLines(state, momentOf(state, info), paint), ...keptLines(state));
  if (info.live && state.held !== null) {
    lines.push(`The run ${heldWord(state)} and goes on by itself: ${brief(state.held.why, 200)}`);
    lines.push(`  ${EASED_BY[state.held.of]}`);
  }
  if (info.live && state.paused !== null && state.outcome === null) {
    lines.push(`The run is paused. Go on: ${paint('accent', resumeCommand(info.run))}`);
  }
  if (state.outcome === 'interrupted' || (state.outcome === null && !info.live)) {
    lines.push(`No engine works on this run. Go on: ${paint('accent', resumeCommand(info.run))}`);
  }
  return lines.length === 0 ? [] : ['', ...lines];
}

function settledLines(state: RunState): string[] {
  return settledTasks(state).map(
    ({ task, files }) => `Settled in ${brief(task, 60)}: ${brief(settledText(files), 300)}`,
  );
}

function publishLines({ publish }: RunState, now: number, paint: Ink['paint']): string[] {
  switch (publish.kind) {
    case 'none':
      return [];
    case 'running':
      return [`Publishing ${shortSha(publish.head)}${publishGate(publish, now)}`];
    case 'finished':
      return [`Published to ${brief(publish.target, 80)} at ${shortSha(publish.commit)}`];
    case 'blocked':
      return [
        `${paint('warn', 'Publishing is blocked:')} ${brief(publish.why, 300)}`,
        `    ${paint('accent', clean(publish.remedy))}`,
      ];
  }
}

function publishGate({ gate = null }: Publish & { kind: 'running' }, now: number): string {
  return gate === null ? '' : `, its combination in ${gateText(gate, now)}`;
}

function keptLines(state: RunState): string[] {
  const kept = [...state.tasks.values()].filter(({ workspace }) => workspace === 'kept');
  return kept.map(
    ({ spec, keptWhy }) => `Workspace kept: ${brief(spec.id, 60)} (${brief(keptWhy ?? '', 200)})`,
  );
}

/** What is landing now, then what waits for it, oldest first. */
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

/** Time stands still in a run that nobody works on. */
function momentOf(state: RunState, info: StatusInfo): number {
  return info.live ? info.now : state.at;
}
