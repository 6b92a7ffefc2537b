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
import { meant, type Word } from './fields.ts';
import type { CpoTask } from './task.ts';

/** For each task the ids of those it depends on, of earlier waves only. */
export type Order = ReadonlyMap<string, ReadonlySet<string>>;

/** Checks what is said of the order, and answers with it. */
export function readOrder(all: readonly CpoTask[], manifest: ProblemLog): Order {
  const tasks = checkIds(all, manifest);
  const order = new Map(tasks.map(({ id }) => [id, new Set<string>()]));
  for (const task of tasks) {
    checkAgreement(task);
    for (const dep of task.file?.deps ?? []) {
      const found = resolve(dep, 'deps', task, tasks);
      if (found !== null && isEarlier(found, task, dep)) order.get(task.id)?.add(found.id);
    }
  }
  checkCycle(tasks);
  for (const task of tasks) checkBlocks(task, tasks, order);
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
    const message = `agent ${quote(file.agent.text)} here, but ${quote(entry.agent)} in the manifest`;
    log.warning(file.agent.at, message, 'the manifest counts');
  }
}

function resolve(
  word: Word,
  key: string,
  task: CpoTask,
  tasks: readonly CpoTask[],
): CpoTask | null {
  const found = meant(word.text, tasks);
  if (found !== null) return found;
  const ids = tasks.map(({ id }) => id);
  const guess = closest(word.text, ids);
  const remedy = guess === null ? `tasks of the manifest: ${ids.slice(0, 20).join(', ')}` : null;
  task.file?.log.error(
    word.at,
    `${key} names ${quote(word.text)}, which is no task of the manifest`,
    remedy ?? `did you mean ${quote(guess ?? '')}?`,
  );
  return null;
}

function isEarlier(dep: CpoTask, task: CpoTask, { at }: Word): boolean {
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

function checkCycle(tasks: readonly CpoTask[]): void {
  const graph = tasks.map((task) => ({
    id: task.id,
    needs: (task.file?.deps ?? []).flatMap(({ text }) => meant(text, tasks)?.id ?? []),
  }));
  const cycle = findCycle(graph);
  const first = tasks.find(({ id }) => id === cycle?.[0]);
  if (cycle === null || first?.file == null) return;
  const dep = first.file.deps.find(({ text }) => meant(text, tasks)?.id === cycle[1]);
  const remedy = 'remove one of these from deps: none of the tasks could ever start';
  first.file.log.error(
    dep?.at ?? first.file.idAt,
    `cyclic dependency: ${cycle.join(' -> ')}`,
    remedy,
  );
}

function checkBlocks(
  task: CpoTask,
  tasks: readonly CpoTask[],
  order: ReadonlyMap<string, Set<string>>,
): void {
  const log = task.file?.log;
  const blocks = task.file?.blocks ?? null;
  if (blocks === null) return;
  const blocked = new Set<string>();
  for (const word of blocks) {
    const other = resolve(word, 'blocks', task, tasks);
    if (other === null) continue;
    blocked.add(other.id);
    const names = `${quote(task.id)} blocks ${quote(other.id)}`;
    if (other.wave === task.wave) {
      const remedy = 'they run at the same time: move the second to a later wave, or remove it';
      log?.warning(word.at, `${names}, but both are in wave ${task.wave}`, remedy);
    } else if (other.wave < task.wave) {
      log?.warning(word.at, `${names}, which is in the earlier wave ${other.wave}`, 'remove it');
    } else if (order.get(other.id)?.has(task.id) === false) {
      const remedy = `add ${task.id} to the deps of ${other.id}`;
      if (other.file !== null) log?.warning(word.at, `${names}, which does not say so`, remedy);
      order.get(other.id)?.add(task.id);
    }
  }
  for (const other of tasks) {
    const says = other.file?.deps.some(({ text }) => meant(text, tasks)?.id === task.id);
    if (says !== true || other.wave <= task.wave || blocked.has(other.id)) continue;
    const message = `${quote(other.id)} depends on ${quote(task.id)}, but is not in its blocks`;
    log?.warning(task.file?.idAt ?? task.entry.at, message, `add ${other.id} to blocks`);
  }
}
