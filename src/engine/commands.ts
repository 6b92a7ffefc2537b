/** From wishes to facts, and from facts to the effects that must stop because of them. Pure. */

import type { Command } from '../model/command.ts';
import type { Event, StopMode } from '../model/event.ts';
import { isOver, type RunState } from '../model/state.ts';
import type { StopReason } from './world.ts';

/** Each stops more than the one before; a stop never gets weaker. */
const MODES: readonly StopMode[] = ['drain', 'end', 'cancel'];

/** What a command makes true; nothing where it comes too late. */
export function eventsFor(command: Command, state: RunState): readonly Event[] {
  if (command.kind === 'cancel-task') {
    const task = state.tasks.get(command.task);
    if (task === undefined || task.cancelled || isOver(task)) return [];
    return [{ type: 'task.cancelled', task: command.task }];
  }
  const { mode, why } = command;
  const before = state.stopping === null ? -1 : MODES.indexOf(state.stopping.mode);
  if (state.outcome !== null || MODES.indexOf(mode) <= before) return [];
  return [{ type: 'run.stopping', mode, why }];
}

/** Which running effects an event ends, and why. */
export function stopsFor(
  event: Event,
  running: readonly string[],
): readonly { readonly key: string; readonly reason: StopReason }[] {
  if (event.type === 'task.cancelled') {
    const keys = [`attempt:${event.task}`, `merge:${event.task}`];
    return keys.map((key) => ({ key, reason: 'cancelled' }));
  }
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
