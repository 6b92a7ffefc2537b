/**
 * The results of a run of two streams, in cast-parallel's lines:
 *
 *   [cast-parallel] Stream A (worktree-a): batches 1,2 - done
 *   [cast-parallel] ERROR: Stream B (worktree-b): batches 3,4 - failed: The agent exited with 7.
 *   [cast-parallel] Complete: merged into main
 */

import { titleOf } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { failureOf, isUnpublished, resultOf } from './outcome.ts';
import { brief } from './sanitize.ts';

export interface StreamLines {
  readonly good: readonly string[];
  /** What goes to standard error. */
  readonly bad: readonly string[];
}

const PREFIX = '[cast-parallel]';

/** One line per stream, and one for the run if all succeeded. */
export function streamLines(state: RunState): StreamLines {
  const tasks = [...state.tasks.values()];
  const isGood = (task: TaskState): boolean => resultOf(task) === 'succeeded';
  const good = tasks.filter(isGood).map((task) => `${PREFIX} ${nameOf(task)} - done`);
  const bad = tasks
    .filter((task) => !isGood(task))
    .map((task) => `${PREFIX} ERROR: ${nameOf(task)} - ${whyOf(task)}`);
  const isAll = bad.length === 0 && !isUnpublished(state);
  const target = brief(state.target ?? 'HEAD', 120);
  return { good: isAll ? [...good, `${PREFIX} Complete: merged into ${target}`] : good, bad };
}

function nameOf({ spec }: TaskState): string {
  return brief(titleOf(spec, 200), 200);
}

function whyOf(task: TaskState): string {
  const failure = failureOf(task);
  return failure === null ? resultOf(task) : `failed: ${brief(failure.message, 200)}`;
}
