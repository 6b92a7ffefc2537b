/**
 * Landfast's own plan: a YAML file, or Markdown whose front matter is that YAML. In Markdown a
 * section `## <task id>` of the body is the prompt of a task that has no other.
 */

import { normaliseGlob } from '../../model/scope.ts';
import type { Config } from '../config/schema.ts';
import { type FrontMatter, markerIn, splitFrontMatter, withoutBom } from '../front-matter.ts';
import { type Place, ProblemLog, quote, START } from '../problem.ts';
import { type TaskOutline, UNSEEN_REMEDY, unseenNeed, validate } from '../validate.ts';
import { entryOf, placeOf, plainValue, readYaml, type YamlNode } from '../yaml-source.ts';
import { reportIssues } from '../zod-problems.ts';
import type { ParsedPlan, PlanFormat, PlanInput, SourceFile } from './format.ts';
import { checkGateNames } from './native/gate-names.ts';
import { checkIndependent } from './native/independent.ts';
import { lower } from './native/lower.ts';
import { promptsOf } from './native/prompts.ts';
import { nativeSchema } from './native/schema.ts';
import { sectionsOf } from './native/sections.ts';
import { checkSeed } from './native/seed-key.ts';
import { taskNodes, textOf, textsOf } from './native/tree.ts';

export const native: PlanFormat = {
  name: 'native',
  isWhole: true,
  marker: 'a key landfast at the top of the YAML, or of the front matter',
  detect,
  parse,
};

const MARKER = /^(?:\{\s*)?(["']?)landfast\1\s*:/m;

function detect(file: SourceFile): Place | null {
  const text = withoutBom(file.text);
  return markerIn(splitFrontMatter(text), text, MARKER);
}

function parse(input: PlanInput): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const text = withoutBom(input.file.text);
  const front = splitFrontMatter(text);
  const root = readRoot(input.file.path, text, front, log);
  const result = (plan: ParsedPlan['plan']): ParsedPlan => ({
    plan: log.failed ? null : plan,
    format: native.name,
    problems: log.sorted(),
  });
  if (root === null) return result(null);

  const sections = front.kind === 'closed' ? sectionsOf(front.body, front.bodyLine) : [];
  const parsed = nativeSchema.safeParse(plainValue(root));
  if (!parsed.success) reportIssues(parsed.error.issues, nativeSchema, root, log);
  const prompts = promptsOf(root, input, sections, log);
  checkGateNames(root, log);
  checkIndependent(root, input.config, log);
  checkModes(root, log);
  checkBranches(root, log);
  checkHears(root, log);
  checkDelivery(root, input.config, log);
  checkSeed(root, input.config, log);
  validateTasks(root, input.config, log);
  if (!parsed.success) return result(null);
  const { config, home } = input;
  return result(lower(parsed.data, prompts, { name: stemOf(input.file.path), config, home }));
}

function readRoot(
  path: string,
  text: string,
  front: FrontMatter,
  log: ProblemLog,
): YamlNode | null {
  if (front.kind === 'open' && /\.(?:md|markdown)$/i.test(path)) {
    log.error(START, 'the front matter is not closed', 'end it with a line that is exactly ---');
    return null;
  }
  const yaml =
    front.kind === 'closed' ? { text: front.yaml, firstLine: 2 } : { text, firstLine: 1 };
  const root = readYaml({ ...yaml, version: '1.2' }, log);
  if (root === null || root.kind === 'map') return root;
  log.error(root.at, 'a plan must be a mapping', 'begin it with landfast: 1');
  return null;
}

/** The file's name without folders and ending. */
function stemOf(path: string): string {
  const base = path.split(/[\\/]/).at(-1) ?? '';
  return base.replace(/(?<=.)\.[^.]*$/, '') || 'plan';
}

/** A read task's changes are thrown away: a scope for them would promise something else. */
function checkModes(root: YamlNode, log: ProblemLog): void {
  for (const task of taskNodes(root)) {
    if (!isReadOnly(task)) continue;
    const writes = entryOf(task, 'writes');
    const here = entryOf(task, 'here');
    if (writes !== undefined) {
      log.error(writes.keyAt, 'a read_only task writes nothing', 'remove writes or read_only');
    }
    if (here !== undefined && isTrue(here.value)) {
      log.error(here.keyAt, 'a read_only task has a workspace of its own', 'remove one of both');
    }
  }
}

function isTrue(node: YamlNode | undefined): boolean {
  return node?.kind === 'scalar' && node.value === true;
}

/** Two tasks on one branch would overwrite each other's work. */
function checkBranches(root: YamlNode, log: ProblemLog): void {
  const seen = new Set<string>();
  for (const task of taskNodes(root)) {
    const branch = entryOf(task, 'branch')?.value;
    const name = textOf(branch);
    if (branch === undefined || name === undefined) continue;
    if (seen.has(name)) log.error(branch.at, `two tasks have the branch ${quote(name)}`);
    seen.add(name);
  }
}

/** Only a task that is over when this one starts can be heard. */
function checkHears(root: YamlNode, log: ProblemLog): void {
  for (const task of taskNodes(root)) {
    const hears = entryOf(task, 'hears')?.value;
    const needs = textsOf(entryOf(task, 'needs')?.value);
    for (const heard of hears?.kind === 'list' ? hears.items : []) {
      const name = textOf(heard);
      if (name === undefined || needs.includes(name)) continue;
      const remedy = `add ${quote(name)} to its needs, or remove it from hears`;
      log.error(heard.at, `a task hears only what it needs, and not ${quote(name)}`, remedy);
    }
  }
}

/** With strategy none work stays where nobody else sees it, and only then is it pushed. */
function checkDelivery(root: YamlNode, config: Config, log: ProblemLog): void {
  const land = entryOf(root, 'land')?.value;
  const push = entryOf(land, 'push');
  const strategy = textOf(entryOf(land, 'strategy')?.value) ?? config.land?.strategy;
  if (strategy !== 'none') {
    if (push === undefined) return;
    const remedy = 'add strategy: none to land, or remove push';
    return log.error(push.keyAt, 'only work that stays on its branch is pushed', remedy);
  }
  const writers = new Set(
    taskNodes(root).flatMap((task) =>
      isReadOnly(task) ? [] : [textOf(entryOf(task, 'id')?.value)],
    ),
  );
  for (const task of taskNodes(root)) {
    const needs = entryOf(task, 'needs')?.value;
    if (isReadOnly(task) || needs?.kind !== 'list') continue;
    for (const need of needs.items) {
      const name = textOf(need);
      if (name === undefined || !writers.has(name)) continue;
      log.error(need.at, unseenNeed(name), UNSEEN_REMEDY);
    }
  }
}

function isReadOnly(task: YamlNode): boolean {
  return isTrue(entryOf(task, 'read_only')?.value);
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
