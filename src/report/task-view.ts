/**
 * One task as a row of status and live view: what it does or waits for, since when, at what cost.
 * The scheduler finds why a task waits (model/wait.ts); this puts it into words.
 */

import { unreachable } from '../base/assert.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { isHalted, type RunState, type TaskState, taskCost, type Wait } from '../model/state.ts';
import { denialsOf, denialText, doubtOf } from './denied.ts';
import { durationText, nameList, type Style, shortSha } from './format.ts';
import type { Result } from './outcome.ts';
import { deliveryText, failureOf, RESULT_ICONS, resultOf, SHORT_OF, workMs } from './outcome.ts';
import { candidateText } from './queue.ts';
import { brief } from './sanitize.ts';

export interface TaskView {
  readonly id: TaskId;
  /** The id, sanitized. */
  readonly name: string;
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
  readonly actions?: ReadonlyMap<TaskId, string>;
  /** What tasks wait for, from the scheduler. */
  readonly waits?: ReadonlyMap<TaskId, Wait>;
  /** A time of day on the user's clock: `14:05`. */
  readonly clock?: (at: number) => string;
  readonly liveness?: Liveness;
}

/** Last activity per running agent: one that is silent for too long is stale. */
export interface Liveness {
  /** Milliseconds since 1970. */
  readonly lastActivityAt: ReadonlyMap<TaskId, number>;
  readonly staleMs: number;
}

/** How long an agent may be silent before it is called stale. */
export const STALE_MS = 300_000;

/** How long the agent of a running task has been silent; null if unknown. */
export function silenceOf(task: TaskState, now: number, liveness?: Liveness): number | null {
  const last = task.attempts.at(-1);
  if (liveness === undefined || task.status.kind !== 'running' || last === undefined) return null;
  const lastActivityAt = liveness.lastActivityAt.get(task.spec.id) ?? 0;
  return Math.max(0, now - Math.max(lastActivityAt, last.startedAt));
}

export function taskView(state: RunState, task: TaskState, context: ViewContext): TaskView {
  const last = task.attempts.at(-1);
  const running = task.status.kind === 'running' && last !== undefined;
  const plain = shapeOf(state, task, context);
  const shape = denialsOf(task).length === 0 ? plain : withDenied(state, task, plain);
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
      if (isHalted(state, task.spec.id)) {
        return shape(task.paused ? 'paused' : 'suspended', '‖', 'warn', 'halted');
      }
      return runningShape(task, context);
    case 'stopped':
      return stoppedShape(state, task, context);
    case 'committed':
      return shape('queued', '○', 'accent', 'waits to land');
    case 'merging': {
      const where = landingDetail(state, task.spec.id, status.onto, context.now);
      return shape('landing', '◍', 'accent', where);
    }
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

function landingDetail(state: RunState, id: TaskId, onto: Sha, now: number): string {
  const candidate = state.queue.find(({ task }) => task === id);
  const where = candidate === undefined ? 'is verified' : candidateText(state, candidate, now);
  return `${where}, on ${shortSha(onto)}`;
}

function runningShape(task: TaskState, { now, actions, liveness }: ViewContext): Shape {
  const action = actions?.get(task.spec.id) ?? '';
  const silentMs = silenceOf(task, now, liveness);
  if (liveness === undefined || silentMs === null || silentMs <= liveness.staleMs) {
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

function whyOf(task: TaskState): string {
  const failure = failureOf(task);
  return failure === null ? '' : `${failure.kind}: ${brief(failure.message, 160)}`;
}

function stoppedShape(state: RunState, task: TaskState, context: ViewContext): Shape {
  const why = whyOf(task);
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
  if (task.skipped !== null) return shape('skipped', symbol, 'warn', skippedDetail(task));
  if (result === 'cancelled') return shape('cancelled', symbol, 'warn', '');
  if (result === 'unfinished') return shape('stopped', symbol, 'warn', whyOf(task));
  return shape('failed', symbol, 'bad', whyOf(task));
}

function skippedDetail({ skipped, status }: TaskState): string {
  const failed = status.kind === 'failed' && status.failure.kind !== 'skipped';
  const before = failed ? `given up after it failed (${status.failure.kind})` : 'given up';
  return skipped?.satisfied === true ? `${before}; taken as done` : before;
}

/** Denied tools stay on the row: the agent itself may not mention them. */
function withDenied(state: RunState, task: TaskState, shape: Shape): Shape {
  const denied = `denied: ${denialText(task)}`;
  const doubt = doubtOf(state, task);
  const detail = [shape.detail, denied, doubt ?? ''].filter((text) => text !== '').join('; ');
  return doubt === null ? { ...shape, detail } : { ...shape, symbol: '!', style: 'warn', detail };
}

function shape(word: string, symbol: string, style: Style, detail: string): Shape {
  return { word, symbol, style, detail };
}

type Moment = Pick<ViewContext, 'now' | 'clock'>;

export function waitText(wait: Wait, moment: Moment): string {
  switch (wait.kind) {
    case 'stopping':
      return 'the run is stopping';
    case 'paused':
      return 'the run is paused';
    case 'task-paused':
      return 'paused';
    case 'needs':
      return `needs ${nameList(wait.tasks)}`;
    case 'workspace':
      return 'its old workspace is being removed';
    case 'retry':
      if (wait.until <= moment.now) return 'retry now';
      return `retry in ${durationText(wait.until - moment.now)}`;
    case 'limit':
      return `waits: ${brief(wait.agent, 40)} is at its limit until ${timeOf(wait.until, moment)}`;
    case 'probe':
      return `waits: ${brief(wait.agent, 40)} was at its limit, ${brief(wait.task, 60)} tries it first`;
    case 'refusal':
      return `waits: ${brief(wait.agent, 40)} ${REFUSALS[wait.why]}`;
    case 'slot':
      return `a worker slot (${wait.workers} of ${wait.workers} busy)`;
    case 'group':
      return `group ${brief(wait.group, 40)} (${wait.busy} of ${wait.limit} busy)`;
    case 'checkout':
      return `${brief(wait.task, 60)} works in your checkout`;
    case 'scope':
      return `overlaps with ${brief(wait.task, 60)}`;
    case 'room':
      return `${SHORT_OF[wait.of]}: ${brief(wait.why, 160)}`;
    case 'money':
      return 'budget: its expected cost is already spent or reserved';
    case 'queue':
      return 'waits to land';
    case 'end':
      return 'given up';
    default:
      return unreachable(wait);
  }
}

/** Whether a wait deserves a line of its own: it may last, and is not just the task's turn. */
export function isNotable(wait: Wait): boolean {
  return ['retry', 'limit', 'probe', 'refusal'].includes(wait.kind);
}

const REFUSALS = {
  auth: 'is not signed in; sign in, then `landfast retry`',
  billing: 'has no credit; top it up, then `landfast retry`',
} as const;

const DAY_MS = 86_400_000;

function timeOf(at: number, { now, clock }: Moment): string {
  const iso = new Date(at).toISOString();
  if (clock === undefined) return `${iso.slice(11, 16)} UTC`;
  return at - now < DAY_MS ? clock(at) : `${iso.slice(0, 10)} ${clock(at)}`;
}
