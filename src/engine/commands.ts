/**
 * From commands to facts or refusals, and from facts to the effects that must stop because of them.
 * A command about several tasks is granted as a whole or refused with all of its reasons. What is
 * true already is accepted and records nothing; what comes too late is refused.
 */

import { unreachable } from '../base/assert.ts';
import type { Command } from '../model/command.ts';
import type { Event, StopMode } from '../model/event.ts';
import { type LimitChanges, limitChanges, type TaskId } from '../model/plan.ts';
import {
  awaitsApproval,
  failedBecauseOf,
  isEnding,
  isGood,
  isOver,
  lostNeed,
  type RunState,
  type TaskState,
  waitsToLand,
} from '../model/state.ts';
import type { AgentsKnown, Capabilities } from '../schedule/next-attempt.ts';
import { landingWith } from '../schedule/withdrawals.ts';
import type { StopReason } from './world.ts';

export type Response =
  | { readonly kind: 'accepted'; readonly events: readonly Event[] }
  | { readonly kind: 'refused'; readonly why: string };

/** What a command makes true, or why it does not. */
export function respond(
  command: Command,
  state: RunState,
  agents: AgentsKnown = () => CODING,
): Response {
  if (state.outcome !== null) return refused('The run is over.');
  switch (command.kind) {
    case 'cancel-task':
      return cancelTask(command.task, state);
    case 'pause':
      return pause(command.suspend, state);
    case 'continue':
      return accepted(state.paused === null ? [] : [{ type: 'run.continued' }]);
    case 'pause-tasks':
      return pauseTasks(command.tasks, state);
    case 'continue-tasks':
      return continueTasks(command.tasks, state);
    case 'limit':
      return limit(command.limits, state);
    case 'comment':
      return comment(command, state, agents);
    case 'approve':
      return approve(command.publish, state);
    case 'retry':
      return retry(command, state, agents);
    case 'skip':
      return skip(command.tasks, command.satisfied, state);
    case 'stop':
      return stop(command, state);
    default:
      return unreachable(command);
  }
}

/** Assumed of agents that the caller does not know. */
const CODING: Capabilities = { resume: true, prose: true };

function accepted(events: readonly Event[]): Response {
  return { kind: 'accepted', events };
}

function refused(why: string): Response {
  return { kind: 'refused', why };
}

function cancelTask(id: TaskId, state: RunState): Response {
  const task = state.tasks.get(id);
  if (task === undefined) return refused(`There is no task ${id}.`);
  if (isOver(task)) return refused(`Task ${id} has already ended: ${task.status.kind}.`);
  return accepted(task.cancelled ? [] : [{ type: 'task.cancelled', task: id }]);
}

function pause(suspended: boolean, state: RunState): Response {
  if (state.stopping !== null) return refused('The run is stopping.');
  const isSame = state.paused?.suspended === suspended;
  return accepted(isSame ? [] : [{ type: 'run.paused', suspended }]);
}

function retry(
  { tasks: ids, fresh, note, mended = [] }: Command & { kind: 'retry' },
  state: RunState,
  agents: AgentsKnown,
): Response {
  if (state.stopping !== null) return refused('The run is stopping.');
  if (isEnding(state)) return refused('The run is being published.');
  const all = [...new Set([...ids, ...failedBecauseOf(state, new Set(ids))])];
  const problems = ids.flatMap(
    (id) =>
      retryProblem(state, id, all) ?? (note === undefined ? null : deaf(state, id, agents)) ?? [],
  );
  if (problems.length > 0) return refused(problems.join(' '));
  const theirs = fresh ? [] : mended.filter(({ task }) => all.includes(task));
  return accepted([
    ...all.map((task): Event => {
      const told = note === undefined || !ids.includes(task) ? {} : { note };
      return { type: 'task.retried', task, fresh, ...told };
    }),
    ...theirs.map((work): Event => ({ type: 'work.mended', ...work })),
  ]);
}

function retryProblem(state: RunState, id: TaskId, all: readonly TaskId[]): string | null {
  const task = state.tasks.get(id);
  if (task === undefined) return `There is no task ${id}.`;
  const { status } = task;
  if (isGood(task)) return `Task ${id} has succeeded.`;
  if (status.kind === 'waiting') return `Task ${id} has not been tried yet.`;
  if (isQueuedToLand(task)) return `Task ${id} is finished and waits to land.`;
  if (status.kind === 'running') return `Task ${id} is running.`;
  const need = lostNeed(state, task, all);
  return need === null ? null : `Task ${id} needs ${need}, which failed: retry that.`;
}

/** A plain command reads no messages. */
function deaf(state: RunState, id: TaskId, agents: AgentsKnown): string | null {
  const agent = state.tasks.get(id)?.spec.agent;
  const isDeaf = agent !== undefined && !agents(agent).prose;
  return isDeaf ? `Task ${id} is a plain command: no agent reads what you write.` : null;
}

function isQueuedToLand({ status }: TaskState): boolean {
  if (status.kind === 'committed' || status.kind === 'merging') return true;
  return status.kind === 'stopped' && waitsToLand(status);
}

function pauseTasks(ids: readonly TaskId[], state: RunState): Response {
  if (state.stopping !== null) return refused('The run is stopping.');
  const problems = ids.flatMap((id) => {
    const task = state.tasks.get(id);
    if (task === undefined) return [`There is no task ${id}.`];
    if (isOver(task)) return [`Task ${id} is over already: ${task.status.kind}.`];
    return isQueuedToLand(task) ? [`Task ${id} is finished and waits to land.`] : [];
  });
  if (problems.length > 0) return refused(problems.join(' '));
  const open = [...new Set(ids)].filter((id) => state.tasks.get(id)?.paused === false);
  return accepted(open.map((task): Event => ({ type: 'task.paused', task })));
}

function continueTasks(ids: readonly TaskId[], state: RunState): Response {
  const unknown = ids.filter((id) => !state.tasks.has(id));
  if (unknown.length > 0) return refused(unknown.map((id) => `There is no task ${id}.`).join(' '));
  const paused = [...new Set(ids)].filter((id) => state.tasks.get(id)?.paused === true);
  return accepted(paused.map((task): Event => ({ type: 'task.continued', task })));
}

function limit(limits: LimitChanges, state: RunState): Response {
  if (state.stopping !== null) return refused('The run is stopping.');
  const wanted = Object.entries(limitChanges(limits));
  if (wanted.length === 0) return refused('No limit is given.');
  const problems = wanted.flatMap(([key, value]) => {
    const isCount = key === 'workers' || key === 'gates';
    const isGood = isCount ? Number.isSafeInteger(value) && value >= 1 : value > 0;
    return isGood ? [] : [`The limit ${key} cannot be ${value}.`];
  });
  if (problems.length > 0) return refused(problems.join(' '));
  const before = new Map<string, unknown>(Object.entries(state.plan.limits));
  const changed = wanted.filter(([key, value]) => before.get(key) !== value);
  if (changed.length === 0) return accepted([]);
  return accepted([{ type: 'run.limited', ...Object.fromEntries(changed) }]);
}

function comment(
  { task: id, comments }: Command & { kind: 'comment' },
  state: RunState,
  agents: AgentsKnown,
): Response {
  if (state.stopping !== null) return refused('The run is stopping.');
  if (isEnding(state)) return refused('The run is being published.');
  if (comments.length === 0) return refused('No comments given.');
  const task = state.tasks.get(id);
  if (task === undefined) return refused(`There is no task ${id}.`);
  const problem = commentProblem(state, task) ?? deaf(state, id, agents);
  if (problem !== null) return refused(problem);
  const commented: Event = { type: 'task.commented', task: id, comments };
  const { status } = task;
  const isCutShort =
    status.kind === 'stopped' && status.failure.kind !== 'revision' && !waitsToLand(status);
  if (status.kind !== 'failed' && !isCutShort) return accepted([commented]);
  const again = retry({ kind: 'retry', tasks: [id], fresh: false }, state, agents);
  return again.kind === 'refused' ? again : accepted([...again.events, commented]);
}

function commentProblem(state: RunState, task: TaskState): string | null {
  const { id, mode } = task.spec;
  const { kind } = task.status;
  if (kind === 'landed' || kind === 'delivered') {
    const way = 'Changes to it need a task of their own, such as landfast spawn.';
    return `The work of task ${id} has ${kind === 'landed' ? 'landed' : 'been delivered'}. ${way}`;
  }
  if (kind === 'done' || mode === 'read') return `Task ${id} has no work to review.`;
  if (task.cancelled || task.skipped !== null) return `Task ${id} was given up: retry it first.`;
  if (task.attempts.length === 0) return `No agent has worked on task ${id} yet.`;
  const isMoving =
    state.landing !== null && landingWith(state, state.landing).some((c) => c.task === id);
  const isDelivered = kind === 'merging' && state.plan.landing.strategy === 'none';
  return isMoving || isDelivered ? `The work of task ${id} is landing just now.` : null;
}

function approve(publish: boolean, state: RunState): Response {
  if (state.stopping !== null) return refused('The run is stopping.');
  const { publish: now, head } = state;
  if (now.kind === (publish ? 'approved' : 'declined') && now.head === head) return accepted([]);
  const isDeclined = now.kind === 'declined' && now.head === head;
  if (head === null || !(awaitsApproval(state) || isDeclined)) {
    return refused('Nothing waits for approval.');
  }
  return accepted([{ type: publish ? 'publish.approved' : 'publish.declined', head }]);
}

function skip(ids: readonly TaskId[], satisfied: boolean, state: RunState): Response {
  if (isEnding(state)) return refused('The run is being published.');
  const problems = ids.flatMap((id) => {
    const task = state.tasks.get(id);
    if (task === undefined) return [`There is no task ${id}.`];
    return isGood(task) ? [`Task ${id} has succeeded.`] : [];
  });
  if (problems.length > 0) return refused(problems.join(' '));
  const news = [...new Set(ids)].filter(
    (id) => state.tasks.get(id)?.skipped?.satisfied !== satisfied,
  );
  const given = news.map((task): Event => ({ type: 'task.skipped', task, satisfied }));
  const freed = satisfied && state.stopping === null ? failedBecauseOf(state, new Set(news)) : [];
  return accepted([
    ...given,
    ...freed.map((task): Event => ({ type: 'task.retried', task, fresh: false })),
  ]);
}

/** Each stops more than the one before; a stop never gets weaker. */
const MODES: readonly StopMode[] = ['drain', 'end', 'cancel'];

function stop({ mode, why }: Command & { kind: 'stop' }, state: RunState): Response {
  const before = state.stopping === null ? -1 : MODES.indexOf(state.stopping.mode);
  return accepted(MODES.indexOf(mode) <= before ? [] : [{ type: 'run.stopping', mode, why }]);
}

/** Which running effects an event ends, and why. */
export function stopsFor(
  event: Event,
  running: readonly string[],
): readonly { readonly key: string; readonly reason: StopReason }[] {
  if (event.type === 'task.cancelled' || event.type === 'task.skipped') {
    const keys = [`attempt:${event.task}`, `merge:${event.task}`];
    return keys.map((key) => ({ key, reason: 'cancelled' }));
  }
  if (event.type === 'candidate.dropped') {
    return [{ key: `verify:${event.task}:${event.commit}`, reason: 'interrupted' }];
  }
  if (event.type === 'merge.withdrawn' && event.lingers === true) return [];
  const { type } = event;
  if (type === 'merge.withdrawn' || type === 'merge.rejected' || type === 'merge.landed') {
    // A candidate that has left the queue needs no verdict any more.
    const keys = running.filter((key) => key.startsWith(`verify:${event.task}:`));
    return keys.map((key) => ({ key, reason: 'interrupted' }));
  }
  if (event.type !== 'run.stopping' || event.mode === 'drain') return [];
  const reason = event.mode === 'cancel' ? 'cancelled' : 'interrupted';
  const isSpared = (key: string): boolean => /^(?:release|land|verify)\b/.test(key);
  return running.filter((key) => !isSpared(key)).map((key) => ({ key, reason }));
}
