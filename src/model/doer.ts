/** Who does a task: its own agent and model first, then its fallbacks, in the plan's order. */

import type { Doer, TaskSpec } from './plan.ts';

/** Everybody who may do a task, the first choice first. */
export function doersOf(task: Pick<TaskSpec, 'agent' | 'model' | 'fallbacks'>): readonly Doer[] {
  return [ownDoer(task), ...(task.fallbacks ?? [])];
}

/** The task's first choice. */
export function ownDoer({ agent, model }: Pick<TaskSpec, 'agent' | 'model'>): Doer {
  return model === undefined ? { agent } : { agent, model };
}

/** Whether both are the same agent with the same model. */
export function isSameDoer(one: Doer, other: Doer): boolean {
  return one.agent === other.agent && one.model === other.model;
}

/** The task as somebody else than its first choice is asked to do it. */
export function doneBy(task: TaskSpec, by: Doer | undefined): TaskSpec {
  if (by === undefined) return task;
  const { model: _, ...rest } = task;
  return { ...rest, ...by };
}

/** `codex`, or `codex (gpt-5)`. */
export function doerName({ agent, model }: Doer): string {
  return model === undefined ? agent : `${agent} (${model})`;
}
