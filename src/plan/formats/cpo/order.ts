/**
 * The order of tasks is said up to four times: by waves, `wave`, `deps` and `blocks`. The waves of
 * the manifest count; whatever contradicts them is a problem.
 *
 *   O1. A task depends only on tasks of earlier waves, so one of wave 1 on none.
 *   O2. `deps` and `blocks` are the same fact from both ends. A difference is a warning: `blocks`
 *       is taken as an order as well, unless both tasks are in one wave.
 */

import { findCycle } from '../../../model/graph.ts';
import { type ProblemLog, quote } from '../../problem.ts';
import { closest } from '../../suggest.ts';
import { type Find, finderOf, type Word } from './fields.ts';
import type { CpoTask } from './task.ts';

/** For each task the ids of those it depends on, of earlier waves only. */
export type Order = ReadonlyMap<string, ReadonlySet<string>>;

/** A task that another one names. */
interface Reference {
  readonly word: Word;
  readonly task: CpoTask;
}

interface Known {
  readonly ids: readonly string[];
  readonly find: Find<CpoTask>;
}

/** Checks what is said of the order, and answers with it. */
export function readOrder(all: readonly CpoTask[], manifest: ProblemLog): Order {
  const tasks = checkIds(all, manifest);
  const known: Known = { ids: tasks.map(({ id }) => id), find: finderOf(tasks) };
  const order = new Map(tasks.map(({ id }) => [id, new Set<string>()]));
  const deps = new Map<string, readonly Reference[]>();
  for (const task of tasks) {
    checkAgreement(task);
    const named = (task.file?.deps ?? []).flatMap((word) => resolve(word, 'deps', task, known));
    deps.set(task.id, named);
    for (const dep of named) {
      if (isEarlier(dep, task)) order.get(task.id)?.add(dep.task.id);
    }
  }
  checkCycle(tasks, deps);
  const followers = followersOf(tasks, deps);
  for (const task of tasks) checkBlocks(task, { ...known, order, followers });
  return order;
}

/** Returns the tasks with each id once. */
function checkIds(tasks: readonly CpoTask[], log: ProblemLog): readonly CpoTask[] {
  const seen = new Map<string, CpoTask>();
  for (const task of tasks) {
    const earlier = seen.get(task.id);
    if (earlier === undefined) seen.set(task.id, task);
    else {
      const where = `wave ${earlier.wave} has it too (line ${earlier.entry.at.line}): rename one`;
      log.error(task.entry.at, `duplicate task id ${quote(task.id)}`, where);
    }
  }
  return [...seen.values()];
}

/** What the task file says again of what the manifest has said. */
function checkAgreement({ id, wave, entry, file }: CpoTask): void {
  if (file === null) return;
  const { log } = file;
  if (file.id !== id) {
    const message = `id ${quote(file.id)} is called ${quote(id)} in the manifest`;
    log.warning(file.idAt, message, 'they are taken for the same task; give both the same id');
  }
  if (file.wave !== null && file.wave !== wave) {
    const message = `wave ${file.wave} here, but wave ${wave} in the manifest`;
    log.warning(file.waveAt, message, 'the manifest counts');
  }
  if (file.agent !== null && entry.agent !== null && file.agent.text !== entry.agent) {
    const message = `agent ${quote(file.agent.text)} here, ${quote(entry.agent)} in the manifest`;
    log.warning(file.agent.at, message, 'the manifest counts');
  }
}

/** The task that is named; nothing where there is none, which is then in the log. */
function resolve(
  word: Word,
  key: 'deps' | 'blocks',
  task: CpoTask,
  { find, ids }: Known,
): readonly Reference[] {
  const found = find(word.text);
  if (found !== null) return [{ word, task: found }];
  const log = task.file?.log;
  const guess = log === undefined || log.isFull ? null : closest(word.text, ids);
  const message = `${key} names ${quote(word.text)}, which is no task of the manifest`;
  const remedy = guess === null ? 'name a task by its id' : `did you mean ${quote(guess)}?`;
  log?.error(word.at, message, remedy);
  return [];
}

function isEarlier({ task: dep, word: { at } }: Reference, task: CpoTask): boolean {
  if (dep.wave < task.wave) return true;
  const log = task.file?.log;
  const names = `${quote(task.id)} depends on ${quote(dep.id)}`;
  if (task.wave === 1) {
    log?.error(at, `${names}, but is in wave 1`, 'a task of wave 1 has no deps: move it to wave 2');
  } else if (dep.wave === task.wave) {
    const remedy = 'tasks of one wave run at the same time: move one of them';
    log?.error(at, `${names}, but both are in wave ${task.wave}`, remedy);
  } else {
    const message = `${names}, but is in wave ${task.wave} and that one in wave ${dep.wave}`;
    log?.error(at, message, 'a task may depend on earlier waves only: move one of them');
  }
  return false;
}

function checkCycle(
  tasks: readonly CpoTask[],
  deps: ReadonlyMap<string, readonly Reference[]>,
): void {
  const needsOf = (id: string) => (deps.get(id) ?? []).map(({ task }) => task.id);
  const cycle = findCycle(tasks.map(({ id }) => ({ id, needs: needsOf(id) })));
  const first = tasks.find(({ id }) => id === cycle?.[0]);
  if (cycle === null || first?.file == null) return;
  const dep = deps.get(first.id)?.find(({ task }) => task.id === cycle[1]);
  const remedy = 'remove one of these from deps: none of the tasks could ever start';
  const message = `cyclic dependency: ${cycle.join(' -> ')}`;
  first.file.log.error(dep?.word.at ?? first.file.idAt, message, remedy);
}

/** For each task those that depend on it. */
function followersOf(
  tasks: readonly CpoTask[],
  deps: ReadonlyMap<string, readonly Reference[]>,
): ReadonlyMap<string, ReadonlySet<CpoTask>> {
  const followers = new Map(tasks.map(({ id }) => [id, new Set<CpoTask>()]));
  for (const task of tasks) {
    for (const dep of deps.get(task.id) ?? []) followers.get(dep.task.id)?.add(task);
  }
  return followers;
}

function checkBlocks(
  task: CpoTask,
  known: Known & {
    readonly order: ReadonlyMap<string, Set<string>>;
    readonly followers: ReadonlyMap<string, ReadonlySet<CpoTask>>;
  },
): void {
  const { file } = task;
  if (file === null || file.blocks === null) return;
  const blocked = file.blocks.flatMap((word) => resolve(word, 'blocks', task, known));
  for (const { word, task: other } of blocked) {
    const names = `${quote(task.id)} blocks ${quote(other.id)}`;
    if (other.wave === task.wave) {
      const remedy = 'they run at the same time: move the second to a later wave, or remove it';
      file.log.warning(word.at, `${names}, but both are in wave ${task.wave}`, remedy);
    } else if (other.wave < task.wave) {
      const message = `${names}, which is in the earlier wave ${other.wave}`;
      file.log.warning(word.at, message, 'remove it');
    } else if (known.order.get(other.id)?.has(task.id) === false) {
      const remedy = `add ${task.id} to the deps of ${other.id}`;
      if (other.file !== null) file.log.warning(word.at, `${names}, which does not say so`, remedy);
      known.order.get(other.id)?.add(task.id);
    }
  }
  for (const other of known.followers.get(task.id) ?? []) {
    if (other.wave <= task.wave || blocked.some((one) => one.task === other)) continue;
    const message = `${quote(other.id)} depends on ${quote(task.id)}, but is not in its blocks`;
    file.log.warning(file.idAt, message, `add ${other.id} to blocks`);
  }
}
