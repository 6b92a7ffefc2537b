/**
 * passing: finished work that need not wait for its turn, because it is independent of the work
 * before it. Pure.
 *
 * - Only a task that the plan calls independent passes, and only where its change shares no path
 *   with any work before it. In doubt it takes its turn.
 * - One at a time, and once: work that was overtaken while passing takes its turn.
 * - When the head moves under a candidate, gates that run on it may go on: a verdict depends only
 *   on the `paths` of its gate, and what landed may touch none of them.
 */

import { parentsOf } from '../model/cone.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { chainOf, passerOf, type RunState, type TaskState } from '../model/state.ts';

/** What becomes of independent work that has something before it. */
export type Standing =
  | { readonly kind: 'passes'; readonly tasks: readonly TaskId[] }
  | { readonly kind: 'stays'; readonly why: string };

/** Which independent tasks pass, and why others stay; `waiting` has the most urgent first. */
export function standings(
  state: RunState,
  waiting: readonly TaskState[],
): ReadonlyMap<TaskId, Standing> {
  const found = new Map<TaskId, Standing>();
  if (!waiting.some(({ spec }) => spec.independent === true)) return found;
  const before = new Trail();
  for (const { task } of chainOf(state)) before.add(state.tasks.get(task)!);
  for (const task of waiting) {
    const standing = task.spec.independent === true ? standingOf(state, task, before) : null;
    if (standing !== null) found.set(task.spec.id, standing);
    before.add(task);
  }
  return found;
}

/** Null where nothing is before it. */
function standingOf(state: RunState, task: TaskState, before: Trail): Standing | null {
  if (before.tasks.length === 0) return null;
  const { status } = task;
  if (status.kind === 'committed' && status.overtaken === true) {
    return { kind: 'stays', why: 'others landed while it was passing' };
  }
  const passer = passerOf(state);
  if (passer !== null) return { kind: 'stays', why: `${passer.task} is passing, one at a time` };
  const why = before.inTheWayOf(task);
  return why === null ? { kind: 'passes', tasks: [...before.tasks] } : { kind: 'stays', why };
}

/** Work, and the paths that it changes. */
class Trail {
  readonly tasks: TaskId[] = [];
  #unknown: TaskId | null = null;
  readonly #files = new Map<string, TaskId>();
  readonly #folders = new Map<string, TaskId>();

  add(task: TaskState): void {
    const { id } = task.spec;
    this.tasks.push(id);
    const files = filesOf(task);
    if (files === null) this.#unknown ??= id;
    for (const file of files ?? []) {
      this.#files.set(file, id);
      for (const folder of parentsOf(file)) this.#folders.set(folder, id);
    }
  }

  /** Why a task's work has to stay behind all of this; null where it may pass. */
  inTheWayOf(task: TaskState): string | null {
    const files = filesOf(task);
    if (files === null) return 'its changes are unknown';
    if (this.#unknown !== null) return `the changes of ${this.#unknown} are unknown`;
    for (const file of files) {
      const other = this.#at(file);
      if (other !== undefined) return `it changes ${file}, and so does ${other}`;
    }
    return null;
  }

  /** Whose the path is, as a file, as a folder, or by a file where it has a folder. */
  #at(file: string): TaskId | undefined {
    const folders = parentsOf(file).map((folder) => this.#files.get(folder));
    return (
      this.#files.get(file) ?? this.#folders.get(file) ?? folders.find((id) => id !== undefined)
    );
  }
}

/** What finished work changes; null for work that the plan brought along. */
function filesOf({ spec, work, attempts }: TaskState): readonly string[] | null {
  if (work === spec.work) return null;
  // Attempts to mend it may have failed since.
  return attempts.findLast(({ files }) => files.length > 0)?.files ?? null;
}

/** Tasks that have landed since the head was at a commit; none where it never was. */
export function landedSince({ landed }: RunState, head: Sha): readonly TaskId[] {
  const at = landed.findIndex(({ onto, commit }) => onto === head && commit !== head);
  return at < 0 ? [] : landed.slice(at).map(({ task }) => task);
}

/** Whether some gate's verdict on a candidate does not depend on the work of these tasks. */
export function leavesVerdicts(state: RunState, tasks: readonly TaskId[]): boolean {
  const known = tasks.map((id) => state.tasks.get(id)).map((task) => task && filesOf(task));
  if (known.some((files) => files == null)) return false;
  const files = known.flatMap((each) => each ?? []);
  return state.plan.gates.some(
    ({ paths }) => paths !== undefined && !files.some((file) => inScope(file, paths)),
  );
}
