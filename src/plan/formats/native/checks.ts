/**
 * Rules across the keys of a native plan, which the schema cannot express. Checked on the tree, so that
 * their problems are shown together with those of the schema.
 */

import type { Plan } from '../../../model/plan.ts';
import { normaliseGlob } from '../../../model/scope.ts';
import type { Config } from '../../config/schema.ts';
import { type TaskOutline, UNSEEN_REMEDY, unseenNeed, validate } from '../../lint/validate.ts';
import { type Place, type ProblemLog, quote } from '../../problem.ts';
import { entryOf, itemsOf, placeOf, textOf, textsOf, type YamlNode } from '../../syntax/yaml.ts';

export function checkPlan(root: YamlNode, config: Config, log: ProblemLog): void {
  checkGateNames(root, log);
  checkIndependent(root, config, log);
  checkModes(root, log);
  // Two tasks on one branch would overwrite each other's work.
  checkUnique(taskNodes(root), 'branch', (name, at) => log.error(at, `duplicate branch ${name}`));
  checkHears(root, log);
  checkDelivery(root, config, log);
  checkSeed(root, config, log);
  validateTasks(root, config, log);
}

/** The entries of `tasks`, whatever they are. */
export function taskNodes(root: YamlNode): readonly YamlNode[] {
  return itemsOf(entryOf(root, 'tasks')?.value);
}

/** A gate is identified by its name, in a plan as in a configuration. */
export function checkGateNames(root: YamlNode, log: ProblemLog): void {
  const gates = itemsOf(entryOf(root, 'gates')?.value);
  checkUnique(gates, 'name', (name, at) =>
    log.error(at, `duplicate gate name ${name}`, 'rename one'),
  );
}

function checkUnique(
  nodes: readonly YamlNode[],
  key: string,
  report: (name: string, at: Place) => void,
): void {
  const seen = new Set<string>();
  for (const node of nodes) {
    const value = entryOf(node, key)?.value;
    const text = textOf(value);
    if (value === undefined || text === undefined) continue;
    if (seen.has(text)) report(quote(text), value.at);
    seen.add(text);
  }
}

/**
 * A task may overtake others on its way to the head only where every gate names the paths it
 * depends on: otherwise each landing would void all other verdicts.
 */
function checkIndependent(root: YamlNode, config: Config, log: ProblemLog): void {
  const tasks = taskNodes(root).filter((task) => isTrue(task, 'independent'));
  if (tasks.length === 0) return;
  for (const task of tasks) {
    const key = ['read_only', 'here'].find((name) => isTrue(task, name));
    if (key === undefined) continue;
    const message = `a task with ${key} lands nothing, so it cannot be independent`;
    log.error(entryOf(task, 'independent')!.keyAt, message, 'remove independent');
  }
  const name = quote(textOf(entryOf(tasks[0], 'id')?.value) ?? '');
  const because = `so ${name} cannot be independent`;
  const gates = entryOf(root, 'gates')?.value;
  for (const gate of itemsOf(gates)) {
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

/** The changes of a read task are discarded, so it can have no scope. */
function checkModes(root: YamlNode, log: ProblemLog): void {
  for (const task of taskNodes(root)) {
    const writes = isTrue(task, 'read_only') ? entryOf(task, 'writes') : undefined;
    if (writes === undefined) continue;
    log.error(writes.keyAt, 'a read_only task writes nothing', 'remove writes or read_only');
  }
}

/** Only a task that has ended before this one starts can be heard. */
function checkHears(root: YamlNode, log: ProblemLog): void {
  for (const task of taskNodes(root)) {
    const needs = textsOf(entryOf(task, 'needs')?.value);
    for (const heard of itemsOf(entryOf(task, 'hears')?.value)) {
      const name = textOf(heard);
      if (name === undefined || needs.includes(name)) continue;
      const remedy = `add ${quote(name)} to its needs, or remove it from hears`;
      log.error(heard.at, `hears names ${quote(name)}, which the task does not need`, remedy);
    }
  }
}

/** With strategy none work stays on its branch, unseen by other tasks, and only then is it pushed. */
function checkDelivery(root: YamlNode, config: Config, log: ProblemLog): void {
  const land = entryOf(root, 'land')?.value;
  const push = entryOf(land, 'push');
  const strategy = textOf(entryOf(land, 'strategy')?.value) ?? config.land?.strategy;
  if (strategy !== 'none') {
    if (push === undefined) return;
    const remedy = 'add strategy: none to land, or remove push';
    return log.error(push.keyAt, 'push needs strategy: none', remedy);
  }
  const writers = taskNodes(root).filter((task) => !isTrue(task, 'read_only'));
  const ids = new Set(writers.map((task) => textOf(entryOf(task, 'id')?.value)));
  for (const task of writers) {
    for (const need of itemsOf(entryOf(task, 'needs')?.value)) {
      const name = textOf(need);
      if (name === undefined || !ids.has(name)) continue;
      log.error(need.at, unseenNeed(name), UNSEEN_REMEDY);
    }
  }
}

/** A seed is found by its key, so the plan must say what its set-up depends on. */
function checkSeed(root: YamlNode, config: Config, log: ProblemLog): void {
  const workspace = entryOf(root, 'workspace')?.value;
  const seed = entryOf(workspace, 'seed');
  if (seed === undefined || isEmpty(seed.value)) return;
  const { setup = [], setup_key: key = [] } = config.workspace ?? {};
  const lacks = (name: string, configured: readonly string[]): boolean => {
    const own = entryOf(workspace, name);
    return own === undefined ? configured.length === 0 : isEmpty(own.value);
  };
  if (!lacks('setup', setup) && !lacks('setup_key', key)) return;
  const remedy = 'add setup: [npm ci] and setup_key: [package-lock.json], or what your project has';
  log.error(seed.keyAt, SEED_NEEDS, remedy);
}

export const SEED_NEEDS = 'workspace.seed needs workspace.setup and workspace.setup_key';

/** A configuration may ask for a seed in a plan that has no set-up. */
export function lacksSeedKey({ workspace }: Plan): boolean {
  const { seed = [], setup, setupKey } = workspace;
  return seed.length > 0 && (setup.length === 0 || setupKey.length === 0);
}

function validateTasks(root: YamlNode, config: Config, log: ProblemLog): void {
  const groups = entryOf(entryOf(root, 'limits')?.value, 'groups')?.value;
  const names = groups?.kind === 'map' ? [...groups.entries.keys()].map(String) : [];
  validate(
    outlineOf(root),
    {
      at: (key, task, item) =>
        placeOf(root, ['tasks', task.index, key, ...(item === undefined ? [] : [item])]),
      needsKey: 'needs',
      groups: new Set([...names, ...Object.keys(config.limits?.groups ?? {})]),
      groupRemedy: (group) => `add it: limits: { groups: { ${group}: 1 } }`,
    },
    log,
  );
}

function outlineOf(root: YamlNode): readonly TaskOutline[] {
  return taskNodes(root).flatMap((task, index) => {
    const id = textOf(entryOf(task, 'id')?.value);
    if (id === undefined) return [];
    const group = textOf(entryOf(task, 'group')?.value);
    const needs = textsOf(entryOf(task, 'needs')?.value);
    const writes = textsOf(entryOf(task, 'writes')?.value).map(normaliseGlob);
    return { index, id, needs, writes, ...(group === undefined ? {} : { group }) };
  });
}

function isTrue(task: YamlNode, key: string): boolean {
  const node = entryOf(task, key)?.value;
  return node?.kind === 'scalar' && node.value === true;
}

function isEmpty(node: YamlNode): boolean {
  return node.kind === 'list' && node.items.length === 0;
}
