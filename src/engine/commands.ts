/**
 * From wishes to facts or refusals, and from facts to the effects that must stop because of them.
 *
 *   C1. A wish about several tasks is granted as a whole or refused with all of its reasons.
 *   C2. What is true already is accepted and makes nothing new; what comes too late is refused.
 */

import { unreachable } from '../base/assert.ts';
import type { Command } from '../model/command.ts';
import type { Event, StopMode } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { isGood, isMet, isOver, type RunState, type TaskState } from '../model/state.ts';
import type { StopReason } from './world.ts';

export type Response =
  | { readonly kind: 'accepted'; readonly events: readonly Event[] }
  | { readonly kind: 'refused'; readonly why: string };

/** What a command makes true, or why it does not. */
export function respond(command: Command, state: RunState): Response {
  if (state.outcome !== null) return refused('The run is over.');
  switch (command.kind) {
    case 'cancel-task':
      return cancelTask(command.task, state);
    case 'pause':
      return pause(command.suspend, state);
    case 'continue':
      return accepted(state.paused === null ? [] : [{ type: 'run.continued' }]);
    case 'retry':
      return retry(command.tasks, command.fresh, state);
    case 'skip':
      return skip(command.tasks, command.satisfied, state);
    case 'stop':
      return stop(command, state);
    default:
      return unreachable(command);
  }
}

function accepted(events: readonly Event[]): Response {
  return { kind: 'accepted', events };
}

function refused(why: string): Response {
  return { kind: 'refused', why };
}

function cancelTask(id: TaskId, state: RunState): Response {
  const task = state.tasks.get(id);
  if (task === undefined) return refused(`There is no task ${id}.`);
  if (isOver(task)) return refused(`Task ${id} is over already: ${task.status.kind}.`);
  return accepted(task.cancelled ? [] : [{ type: 'task.cancelled', task: id }]);
}

function pause(suspended: boolean, state: RunState): Response {
  if (state.stopping !== null) return refused('The run is stopping.');
  const same = state.paused !== null && state.paused.suspended === suspended;
  return accepted(same ? [] : [{ type: 'run.paused', suspended }]);
}

function retry(ids: readonly TaskId[], fresh: boolean, state: RunState): Response {
  if (state.stopping !== null) return refused('The run is stopping.');
  if (isEnding(state)) return refused('The run is being published.');
  const all = [...new Set([...ids, ...failedFor(state, new Set(ids))])];
  const problems = ids.flatMap((id) => retryProblem(state, id, all) ?? []);
  if (problems.length > 0) return refused(problems.join(' '));
  return accepted(all.map((task): Event => ({ type: 'task.retried', task, fresh })));
}

function retryProblem(state: RunState, id: TaskId, all: readonly TaskId[]): string | null {
  const task = state.tasks.get(id);
  if (task === undefined) return `There is no task ${id}.`;
  const { status, spec } = task;
  if (isGood(task)) return `Task ${id} has succeeded.`;
  if (status.kind === 'waiting') return `Task ${id} has not been tried yet.`;
  const landing = status.kind === 'committed' || status.kind === 'merging';
  if (landing) return `Task ${id} is finished and waits to land.`;
  if (status.kind === 'stopped' && status.failure.kind === 'interrupted' && status.work !== null) {
    return `Task ${id} is finished and waits to land.`;
  }
  if (status.kind === 'running') return `Task ${id} is running.`;
  const need = spec.needs.find((each) => isLost(state.tasks.get(each)) && !all.includes(each));
  return need === undefined ? null : `Task ${id} needs ${need}, which failed: retry that.`;
}

/** Whether the last publication is under way: nothing may begin any more. */
function isEnding({ publish }: RunState): boolean {
  return publish.kind === 'running' && !publish.early;
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
  const freed = satisfied && state.stopping === null ? failedFor(state, new Set(news)) : [];
  return accepted([
    ...given,
    ...freed.map((task): Event => ({ type: 'task.retried', task, fresh: false })),
  ]);
}

/** The tasks that failed only because one of these did, directly or through others. */
export function failedFor(state: RunState, roots: ReadonlySet<TaskId>): readonly TaskId[] {
  const found = new Set(roots);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { spec, status } of state.tasks.values()) {
      const failure = status.kind === 'failed' ? status.failure : null;
      if (failure?.kind === 'dependency-failed' && found.has(failure.dependency)) {
        found.add(spec.id);
      }
    }
  }
  return [...found].filter((id) => !roots.has(id));
}

function isLost(task: TaskState | undefined): boolean {
  return task !== undefined && task.status.kind === 'failed' && !isMet(task);
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
  // A candidate that has left the queue needs no verdict any more.
  if (
    event.type === 'merge.withdrawn' ||
    event.type === 'merge.rejected' ||
    event.type === 'merge.landed'
  ) {
    const keys = running.filter((key) => key.startsWith(`verify:${event.task}:`));
    return keys.map((key) => ({ key, reason: 'interrupted' }));
  }
  if (event.type !== 'run.stopping' || event.mode === 'drain') return [];
  const reason = event.mode === 'cancel' ? 'cancelled' : 'interrupted';
  const isSpared = (key: string): boolean => /^(?:release|land|verify)\b/.test(key);
  return running.filter((key) => !isSpared(key)).map((key) => ({ key, reason }));
}
