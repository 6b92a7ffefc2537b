/**
 * The results of a run of two streams, in cast-parallel's lines:
 *
 *   [cast-parallel] Stream A (worktree-a): batches 1,2 - done
 *   [cast-parallel] ERROR: Stream B (worktree-b): batches 3,4 - failed: The agent exited with 7.
 *   [cast-parallel] Complete: merged into main
 */

import { titleOf } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { failureOf, isUnpublished, resultOf } from './outcome.ts';
import { brief } from './sanitize.ts';

const PREFIX = '[cast-parallel]';

/** One line per stream, and one for the run if all succeeded; `bad` goes to standard error. */
export function streamLines(state: RunState) {
  const good: string[] = [];
  const bad: string[] = [];
  for (const task of state.tasks.values()) {
    const name = brief(titleOf(task.spec, 200), 200);
    const failure = failureOf(task);
    const why = failure === null ? resultOf(task) : `failed: ${brief(failure.message, 200)}`;
    if (resultOf(task) === 'succeeded') good.push(`${PREFIX} ${name} - done`);
    else bad.push(`${PREFIX} ERROR: ${name} - ${why}`);
  }
  const target = brief(state.target ?? 'HEAD', 120);
  const isAll = bad.length === 0 && !isUnpublished(state);
  if (isAll) good.push(`${PREFIX} Complete: merged into ${target}`);
  return { good, bad };
}
