/**
 * Rules for plans of every format: unique ids, existing and acyclic needs, groups with a limit, shared
 * paths. Works on outlines, so that its problems are shown even if the text does not become a Plan.
 */

import { closest } from '../../base/closest.ts';
import { ancestors, findCycle } from '../../model/graph.ts';
import type { Plan, TaskId } from '../../model/plan.ts';
import { normaliseGlob } from '../../model/scope.ts';
import { ScopeIndex } from '../../model/scope-index.ts';
import { type Place, type ProblemLog, placeText, quote } from '../problem.ts';

/** A task as far as it is known; a list entry that is no text is ''. */
export interface TaskOutline {
  /** Its position in the list. */
  readonly index: number;
  readonly id: TaskId;
  readonly needs: readonly TaskId[];
  readonly writes: readonly string[];
  readonly group?: string;
}

/** What the format adds: places, and the names of its keys. */
export interface Source {
  at(key: 'id' | 'needs' | 'writes' | 'group', task: TaskOutline, item?: number): Place;
  readonly needsKey: string;
  /** The groups with a limit; null if that list itself is wrong. */
  readonly groups: ReadonlySet<string> | null;
  groupRemedy(group: string): string;
  /** Unordered tasks with overlapping scopes are refused; otherwise they take turns. */
  readonly isExclusive?: boolean;
}

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
  return `with strategy none, tasks that need ${quote(need)} do not see its work`;
}

export const UNSEEN_REMEDY = 'choose another strategy, or merge the tasks';

/** The first such need of a plan of any format. */
export function firstUnseen({ tasks, landing }: Plan): readonly [TaskId, string] | null {
  if (landing.strategy !== 'none') return null;
  const writers = new Set(tasks.filter(({ mode }) => mode === 'write').map(({ id }) => id));
  for (const { id, mode, needs } of tasks) {
    const need = mode === 'write' ? needs.find((each) => writers.has(each)) : undefined;
    if (need !== undefined) return [id, unseenNeed(need)];
  }
  return null;
}

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
    const remedy = `the task ${placeText(source.at('id', earlier))} has it too: rename one`;
    log.error(source.at('id', task), `duplicate task id ${quote(task.id)}`, remedy);
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
    const guesses = (log.isFull ? [] : unknown).flatMap((need) => closest(need, ids) ?? []);
    const meant = guesses.map(quote).join(', ');
    const remedy =
      meant === '' ? 'name a task of this plan, or remove it' : `did you mean ${meant}?`;
    const message = `task ${quote(task.id)}: ${source.needsKey} names undefined task ids: ${list}`;
    log.error(source.at('needs', task, task.needs.indexOf(first)), message, remedy);
  }
}

function checkGroups(tasks: readonly TaskOutline[], source: Source, log: ProblemLog): void {
  const { groups } = source;
  if (groups === null) return;
  for (const task of tasks) {
    if (task.group === undefined || groups.has(task.group)) continue;
    const guess = log.isFull ? null : closest(task.group, groups);
    const add = source.groupRemedy(task.group);
    const message = `task ${quote(task.id)}: group ${quote(task.group)} has no limit`;
    const remedy = guess === null ? add : `did you mean ${quote(guess)}? Otherwise ${add}`;
    log.error(source.at('group', task), message, remedy);
  }
}

/** Paths that two unordered tasks declare: one warning a path, or an error if scopes are exclusive. */
function checkTargets(tasks: readonly TaskOutline[], source: Source, log: ProblemLog): void {
  const isExclusive = source.isExclusive ?? false;
  const index = new ScopeIndex<Claim>();
  const byPath = new Map<string, Claim[]>();
  const order = ancestors(tasks);
  const shared = new Map<string, Shared>();
  for (const task of tasks) {
    const isRival = ({ task: { id } }: Claim) => id !== task.id && !order.isOrdered(id, task.id);
    for (const [item, glob] of task.writes.entries()) {
      if (glob === '') continue;
      const path = normaliseGlob(glob);
      const claim = { task, path };
      const same = byPath.get(path) ?? [];
      const other = isExclusive ? firstOf(index.meeting([path], isRival)) : same.find(isRival);
      if (isExclusive) index.add([path], claim);
      same.push(claim);
      byPath.set(path, same);
      if (other === undefined) continue;
      const at = source.at('writes', task, item);
      if (isExclusive) refuseBoth([other, claim], at, source, log);
      const known = shared.get(path) ?? { at, ids: new Set([other.task.id]) };
      known.ids.add(task.id);
      shared.set(path, known);
    }
  }
  if (!isExclusive) noteShared(shared, source, log);
}

interface Shared {
  /** In the second of the tasks. */
  readonly at: Place;
  readonly ids: Set<TaskId>;
}

const MAX_NAMES = 5;

function noteShared(shared: ReadonlyMap<string, Shared>, source: Source, log: ProblemLog): void {
  for (const [path, { at, ids }] of shared) {
    const names = [...ids].slice(0, MAX_NAMES).map(quote);
    const rest = ids.size > MAX_NAMES ? `${ids.size - MAX_NAMES} more` : names.pop();
    const message = `tasks ${names.join(', ')} and ${rest} write ${quote(path)}: they take turns`;
    log.warning(at, message, `to choose the order, use ${source.needsKey}`);
  }
}

function refuseBoth(
  [one, other]: readonly [Claim, Claim],
  at: Place,
  source: Source,
  log: ProblemLog,
): void {
  const names = `${quote(one.task.id)} and ${quote(other.task.id)}`;
  const what =
    one.path === other.path
      ? `write the same path ${quote(other.path)}`
      : `write ${quote(one.path)} and ${quote(other.path)}, which overlap`;
  const remedy = `order them with ${source.needsKey}, or give each its own path`;
  log.error(at, `conflict: tasks ${names} ${what}`, remedy);
}

interface Claim {
  readonly task: TaskOutline;
  readonly path: string;
}

function firstOf(claims: Iterable<Claim>): Claim | undefined {
  return [...claims].sort((a, b) => a.task.index - b.task.index)[0];
}
