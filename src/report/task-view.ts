/**
 * One task as a row: what it is doing, since when, at what cost. Used by status and live view.
 *
 *   V1. A row's texts, but the id, are clean single lines.
 *   V2. What the row says follows from the state, `now` and the last actions alone.
 */

import type { Sha, TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { taskCost } from '../model/state.ts';
import type { Wait } from '../model/wait.ts';
import { brief } from './clean.ts';
import type { Style } from './format.ts';
import { durationText, nameList, shortSha } from './format.ts';
import type { Result } from './outcome.ts';
import { deliveryText, failureOf, RESULT_ICONS, resultOf, workMs } from './outcome.ts';
import { saying } from './queue-line.ts';
import { waitText } from './wait.ts';

export interface TaskView {
  readonly id: TaskId;
  /** The id as it may be shown. */
  readonly name: string;
  /** One word for where the task is. */
  readonly word: string;
  readonly symbol: string;
  readonly style: Style;
  /** The number of the newest attempt; 0 before the first. */
  readonly attempt: number;
  /** Of the running attempt, else of all attempts together. */
  readonly elapsedMs: number;
  readonly costUsd: number;
  /** What it waits for, does, or ended with. */
  readonly detail: string;
  /** What it waits for, where it waits. */
  readonly wait: Wait | null;
}

export interface ViewContext {
  readonly now: number;
  /** What each running agent did last (action.ts). */
  readonly actions: ReadonlyMap<TaskId, string>;
  /** What tasks wait for, as the scheduler has it. */
  readonly waits?: Waits;
  /** A time of day on the user's clock. */
  readonly clock?: (at: number) => string;
  readonly hearing?: Hearing;
}

export type Waits = ReadonlyMap<TaskId, Wait>;

/** Who has been heard when: an agent that says nothing for too long is called stale. */
export interface Hearing {
  /** The last sign of life of each running agent. */
  readonly heardAt: ReadonlyMap<TaskId, number>;
  readonly staleMs: number;
}

/** How long an agent may be silent before that is told, where nobody says. */
export const STALE_MS = 300_000;

/** How long the agent of a running task has been silent; null where that is not known. */
export function silenceOf(task: TaskState, now: number, hearing?: Hearing): number | null {
  const last = task.attempts.at(-1);
  if (hearing === undefined || task.status.kind !== 'running' || last === undefined) return null;
  const heardAt = hearing.heardAt.get(task.spec.id) ?? 0;
  return Math.max(0, now - Math.max(heardAt, last.startedAt));
}

/** The row of a task. */
export function taskView(state: RunState, task: TaskState, context: ViewContext): TaskView {
  const last = task.attempts.at(-1);
  const running = task.status.kind === 'running' && last !== undefined;
  const shape = shapeOf(state, task, context);
  return {
    id: task.spec.id,
    name: brief(task.spec.id, 60),
    ...shape,
    attempt: last?.attempt ?? 0,
    elapsedMs: running ? Math.max(0, context.now - last.startedAt) : workMs(task, context.now),
    costUsd: taskCost(task),
    detail: brief(shape.detail, 200),
    wait: state.outcome === null ? (context.waits?.get(task.spec.id) ?? null) : null,
  };
}

type Shape = Pick<TaskView, 'word' | 'symbol' | 'style' | 'detail'>;

function shapeOf(state: RunState, task: TaskState, context: ViewContext): Shape {
  const { status } = task;
  switch (status.kind) {
    case 'waiting':
      if (state.outcome !== null) return shape('not started', RESULT_ICONS.unfinished, 'dim', '');
      return shape('waiting', '·', 'dim', waitDetail(state, task, context));
    case 'running':
      if (state.paused?.suspended === true) return shape('suspended', '‖', 'warn', 'halted');
      return runningShape(task, context);
    case 'stopped':
      return stoppedShape(state, task, context);
    case 'committed':
      return shape('queued', '○', 'accent', 'waits to land');
    case 'merging':
      return shape('landing', '◍', 'accent', landingDetail(state, task, status.onto, context));
    case 'landed':
      return shape('landed', '✓', 'good', `as ${shortSha(status.commit)}`);
    case 'delivered':
      return shape('delivered', '✓', 'good', deliveryText(status));
    case 'done':
      return shape('done', '✓', 'good', 'nothing to land');
    case 'failed':
      return overShape(task, resultOf(task));
  }
}

function landingDetail(
  state: RunState,
  { spec }: TaskState,
  onto: Sha,
  { now }: ViewContext,
): string {
  const candidate = state.queue.find(({ task }) => task === spec.id);
  const where = candidate === undefined ? 'is verified' : saying(state, candidate, now);
  return `${where}, on ${shortSha(onto)}`;
}

function runningShape(task: TaskState, { now, actions, hearing }: ViewContext): Shape {
  const action = actions.get(task.spec.id) ?? '';
  const silentMs = silenceOf(task, now, hearing);
  if (hearing === undefined || silentMs === null || silentMs <= hearing.staleMs) {
    return shape('running', '●', 'accent', action);
  }
  const before = action === '' ? '' : ` after: ${action}`;
  return shape('stale', '◌', 'warn', `silent for ${durationText(silentMs)}${before}`);
}

function waitDetail(state: RunState, task: TaskState, context: ViewContext): string {
  if (task.cancelled) return 'cancelled';
  const wait = context.waits?.get(task.spec.id);
  if (wait !== undefined) return waitText(wait, context);
  return state.paused === null ? 'its turn' : 'the run is paused';
}

function stoppedShape(state: RunState, task: TaskState, context: ViewContext): Shape {
  const failure = failureOf(task);
  const why = failure === null ? '' : `${failure.kind}: ${brief(failure.message, 160)}`;
  if (state.outcome !== null || task.cancelled) return shape('stopped', '↩', 'warn', why);
  const wait = context.waits?.get(task.spec.id);
  const when = wait === undefined ? 'retry' : waitText(wait, context);
  return shape('retrying', '↻', 'warn', `${when}: ${why}`);
}

function overShape(task: TaskState, result: Result): Shape {
  const failure = failureOf(task);
  const symbol = RESULT_ICONS[result];
  if (failure?.kind === 'dependency-failed') {
    return shape('skipped', symbol, 'warn', `needs ${nameList([failure.dependency])}`);
  }
  const detail = failure === null ? '' : `${failure.kind}: ${brief(failure.message, 160)}`;
  if (task.skipped !== null) return shape('skipped', symbol, 'warn', skippedDetail(task));
  if (result === 'cancelled') return shape('cancelled', symbol, 'warn', '');
  if (result === 'unfinished') return shape('stopped', symbol, 'warn', detail);
  return shape('failed', symbol, 'bad', detail);
}

function skippedDetail({ skipped, status }: TaskState): string {
  const failed = status.kind === 'failed' && status.failure.kind !== 'skipped';
  const before = failed ? `given up after it failed (${status.failure.kind})` : 'given up';
  return skipped?.satisfied === true ? `${before}; taken as done` : before;
}

function shape(word: string, symbol: string, style: Style, detail: string): Shape {
  return { word, symbol, style, detail };
}
