/**
 * `independent`: a task may pass others on its way to the head only where every gate says which
 * paths it is about. Otherwise each landing would make all other verdicts void.
 */

import type { Config } from '../../config/schema.ts';
import { type ProblemLog, quote } from '../../problem.ts';
import { entryOf, type YamlNode } from '../../yaml-source.ts';
import { taskNodes, textOf } from './tree.ts';

/** Writes to the log what keeps independent tasks from being so. */
export function checkIndependent(root: YamlNode, config: Config, log: ProblemLog): void {
  const tasks = taskNodes(root).filter((task) => isTrue(task, 'independent'));
  if (tasks.length === 0) return;
  for (const task of tasks) {
    const key = ['read_only', 'here'].find((name) => isTrue(task, name));
    if (key === undefined) continue;
    const at = entryOf(task, 'independent')!.keyAt;
    log.error(at, `a task with ${key} lands nothing, so it passes nobody`, 'remove independent');
  }
  const name = quote(textOf(entryOf(tasks[0], 'id')?.value) ?? '');
  const because = `so that ${name} cannot be independent`;
  const gates = entryOf(root, 'gates')?.value;
  for (const gate of gates?.kind === 'list' ? gates.items : []) {
    if (gate.kind !== 'map' || entryOf(gate, 'paths') !== undefined) continue;
    const which = quote(textOf(entryOf(gate, 'name')?.value) ?? '');
    const remedy = 'add the paths that its verdict depends on, or remove independent';
    log.error(gate.at, `gate ${which} has no paths, ${because}`, remedy);
  }
  if (gates !== undefined) return;
  const bare = (config.gates ?? []).filter(({ paths }) => paths === undefined);
  for (const gate of bare) {
    const message = `gate ${quote(gate.name)} of the configuration has no paths, ${because}`;
    const remedy = 'add them there, give the plan gates of its own, or remove independent';
    log.error(entryOf(tasks[0], 'independent')!.keyAt, message, remedy);
  }
}

function isTrue(task: YamlNode, key: string): boolean {
  const node = entryOf(task, key)?.value;
  return node?.kind === 'scalar' && node.value === true;
}
