/**
 * What must hold for every plan, whatever its format: ids are unique, needs exist and are not
 * cyclic, a group has a limit, and no two tasks that may run together claim the same file.
 *
 *   V1. It works on an outline, not on a Plan, so that these problems are shown together with those
 *       that keep the text from becoming a Plan at all.
 *   V2. The shape of each value (type, range, spelling) is the format's own business.
 */

import { ancestors, findCycle } from '../model/graph.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import { isLiteral, normaliseGlob } from '../model/scope.ts';
import { type Place, type ProblemLog, quote } from './problem.ts';
import { closest } from './suggest.ts';

/** A task as far as it is known; an entry of a list that is no text is ''. */
export interface TaskOutline {
  /** Its position in the text's list. */
  readonly index: number;
  readonly id: TaskId;
  readonly needs: readonly TaskId[];
  readonly writes: readonly string[];
  readonly group?: string;
}

/** What the format adds: where things stand, and what its keys are called. */
export interface Source {
  at(key: 'id' | 'needs' | 'writes' | 'group', task: TaskOutline, item?: number): Place;
  readonly needsKey: string;
  /** The groups that have a limit; null where that list itself is wrong. */
  readonly groups: ReadonlySet<string> | null;
  groupRemedy(group: string): string;
}

/** Writes every broken rule to the log. */
export function validate(tasks: readonly TaskOutline[], source: Source, log: ProblemLog): void {
  const unique = checkIds(tasks, source, log);
  checkNeeds(tasks, source, log);
  checkGroups(tasks, source, log);
  const cycle = findCycle(unique);
  if (cycle === null) return checkTargets(unique, source, log);
  const first = unique.find(({ id }) => id === cycle[0])!;
  const at = source.at('needs', first, first.needs.indexOf(cycle[1]!));
  const remedy = `remove one of these from ${source.needsKey}: none of the tasks could ever start`;
  log.error(at, `cyclic dependency: ${cycle.join(' -> ')}`, remedy);
}

/** A task that needs work which stays on its branch would start without it. */
export function unseenNeed(need: TaskId): string {
  return `with strategy none the work of ${quote(need)} is not seen by the tasks that need it`;
}

export const UNSEEN_REMEDY = 'choose another strategy, or make one task of them';

/** The same for a whole plan, of any format: the first problem of the kind, or null. */
export function firstUnseen({ tasks, landing }: Plan): readonly [TaskId, string] | null {
  if (landing.strategy !== 'none') return null;
  const writers = new Set(tasks.filter(({ mode }) => mode === 'write').map(({ id }) => id));
  for (const { id, mode, needs } of tasks) {
    const need = mode === 'write' ? needs.find((each) => writers.has(each)) : undefined;
    if (need !== undefined) return [id, unseenNeed(need)];
  }
  return null;
}

/** Returns the tasks with each id once. */
function checkIds(
  tasks: readonly TaskOutline[],
  source: Source,
  log: ProblemLog,
): readonly TaskOutline[] {
  const byId = new Map<TaskId, TaskOutline>();
  for (const task of tasks) {
    const earlier = byId.get(task.id);
    if (earlier === undefined) {
      byId.set(task.id, task);
      continue;
    }
    const { line } = source.at('id', earlier);
    const message = `duplicate task id ${quote(task.id)}`;
    log.error(source.at('id', task), message, `the task on line ${line} has it too: rename one`);
  }
  return [...byId.values()];
}

function checkNeeds(tasks: readonly TaskOutline[], source: Source, log: ProblemLog): void {
  const ids = new Set(tasks.map(({ id }) => id));
  for (const task of tasks) {
    const unknown = [...new Set(task.needs)].filter((need) => need !== '' && !ids.has(need));
    const [first] = unknown;
    if (first === undefined) continue;
    const list = unknown.toSorted().map(quote).join(', ');
    const guesses = (log.isFull ? [] : unknown)
      .flatMap((need) => closest(need, ids) ?? [])
      .map(quote);
    const remedy =
      guesses.length > 0
        ? `did you mean ${guesses.join(', ')}?`
        : 'name a task of this plan, or remove it';
    log.error(
      source.at('needs', task, task.needs.indexOf(first)),
      `task ${quote(task.id)}: ${source.needsKey} names undefined task ids: ${list}`,
      remedy,
    );
  }
}

function checkGroups(tasks: readonly TaskOutline[], source: Source, log: ProblemLog): void {
  const { groups } = source;
  if (groups === null) return;
  for (const task of tasks) {
    if (task.group === undefined || groups.has(task.group)) continue;
    const guess = log.isFull ? null : closest(task.group, groups);
    const add = source.groupRemedy(task.group);
    log.error(
      source.at('group', task),
      `task ${quote(task.id)}: group ${quote(task.group)} has no limit`,
      guess === null ? add : `did you mean ${quote(guess)}? Otherwise ${add}`,
    );
  }
}

/** The same file declared by two tasks is fine only if one of them needs the other. */
function checkTargets(tasks: readonly TaskOutline[], source: Source, log: ProblemLog): void {
  const claims = new Map<string, Set<TaskOutline>>();
  const order = ancestors(tasks);
  for (const task of tasks) {
    for (const [item, glob] of task.writes.entries()) {
      if (!isLiteral(glob)) continue;
      const target = normaliseGlob(glob);
      const earlier = claims.get(target) ?? new Set();
      claims.set(target, earlier);
      const other = [...earlier].find(({ id }) => id !== task.id && !order.isOrdered(id, task.id));
      earlier.add(task);
      if (other === undefined) continue;
      const names = `${quote(other.id)} and ${quote(task.id)}`;
      log.error(
        source.at('writes', task, item),
        `conflict: tasks ${names} write the same path ${quote(target)}`,
        `order them with ${source.needsKey}, or give each its own path`,
      );
    }
  }
}
