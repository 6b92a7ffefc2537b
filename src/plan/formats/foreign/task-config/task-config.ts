/**
 * claude-code-orchestrator's `task_config.yaml`: tasks that end as a pushed branch or a pull request.
 * Flags win over `settings`, `settings` over the configuration. docs/formats.md lists the differences.
 */

import { closest } from '../../../../base/closest.ts';
import { validate } from '../../../lint/validate.ts';
import { type Place, ProblemLog, placeAt, quote } from '../../../problem.ts';
import { withoutBom } from '../../../syntax/front-matter.ts';
import {
  entryOf,
  placeOf,
  plainValue,
  readYaml,
  textOf,
  type YamlNode,
} from '../../../syntax/yaml.ts';
import { reportIssues } from '../../../syntax/zod-problems.ts';
import type { ParsedPlan, PlanFormat, PlanInput, SourceFile } from '../../format.ts';
import { branchesOf, lower } from './lower.ts';
import { settingsSchema, taskConfigSchema, taskEntrySchema } from './schema.ts';

export const taskConfig: PlanFormat = {
  name: 'task-config',
  marker: 'a list tasks whose entries have a branch, a title and a description',
  asksGit: true,
  usualFile: 'task_config.yaml',
  detect,
  parse,
};

const TASKS = /^(["']?)tasks\1\s*:/m;
const OTHERS = /^(["']?)(?:landfast|po_plan_version|clade_plan_version)\1\s*:/m;
const SETTINGS = /^(["']?)settings\1\s*:/m;
/** Keys that begin a line or follow the dash of an entry. */
const SETTING = keyBelow('worktree_dir|auto_cleanup|base_branch|destination_branch|repo_slug');
const ENTRY = ['branch', 'title', 'description'].map(keyBelow);

function keyBelow(names: string): RegExp {
  return new RegExp(`^[ \\t]*(?:[ \\t]|-[ \\t])["']?(?:${names})["']?[ \\t]*:`, 'm');
}

/** By the file's name, its settings, or entries with all required keys. */
function detect(file: SourceFile): Place | null {
  const text = withoutBom(file.text);
  if (OTHERS.test(text)) return null;
  const tasks = TASKS.exec(text);
  // A file of that name is a task file even without a list: the parser reports that it is missing.
  if (/(?:^|[\\/])task_config\.ya?ml$/i.test(file.path)) return placeAt(text, tasks?.index ?? 0);
  if (tasks === null) return null;
  const isOurs =
    (SETTINGS.test(text) && SETTING.test(text)) || ENTRY.every((key) => key.test(text));
  return isOurs ? placeAt(text, tasks.index) : null;
}

function parse(input: PlanInput): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const plan = readConfig(input, log);
  const problems = log.sorted();
  return { plan: log.failed ? null : plan, format: taskConfig.name, problems, refusalExit: 1 };
}

function readConfig(input: PlanInput, log: ProblemLog): ParsedPlan['plan'] {
  const text = withoutBom(input.file.text);
  const root = readYaml({ text, firstLine: 1, version: '1.1' }, log);
  if (root === null) return null;
  if (root.kind !== 'map') {
    log.error(root.at, 'a task file must be a mapping', 'begin it with tasks:');
    return null;
  }
  const parsed = taskConfigSchema.safeParse(plainValue(root));
  if (!parsed.success) reportIssues(parsed.error.issues, taskConfigSchema, root, log);
  reportUnknownKeys(root, log);
  checkIds(root, log);
  if (!parsed.success) {
    checkBranches(root, [], log);
    return null;
  }
  const { base, destination } = branchesOf(parsed.data, input);
  checkBranches(root, [base, destination], log);
  if (parsed.data.tasks.length === 0) {
    log.warning(placeOf(root, ['tasks'], 'key'), 'there are no tasks', 'add one below tasks:');
  }
  return lower(parsed.data, input, 'task_config');
}

function tasksOf(root: YamlNode): readonly YamlNode[] {
  const tasks = entryOf(root, 'tasks')?.value;
  return tasks?.kind === 'list' ? tasks.items : [];
}

function reportUnknownKeys(root: YamlNode, log: ProblemLog): void {
  const look = (node: YamlNode | undefined, known: readonly string[], where: string): void => {
    for (const { key, keyAt } of node?.kind === 'map' ? node.entries.values() : []) {
      const name = String(key);
      if (known.includes(name)) continue;
      const guess = log.isFull ? null : closest(name, known);
      const remedy =
        guess === null ? `known keys: ${known.join(', ')}` : `did you mean ${quote(guess)}?`;
      log.warning(keyAt, `unknown key ${quote(name)}${where} is ignored`, remedy);
    }
  };
  look(root, Object.keys(taskConfigSchema.shape), '');
  look(entryOf(root, 'settings')?.value, Object.keys(settingsSchema.shape), ' in settings');
  for (const [index, task] of tasksOf(root).entries()) {
    look(task, Object.keys(taskEntrySchema.shape), ` in tasks[${index}]`);
  }
}

function checkIds(root: YamlNode, log: ProblemLog): void {
  const outlines = tasksOf(root).flatMap((task, index) => {
    const id = textOf(entryOf(task, 'id')?.value);
    return id === undefined ? [] : { index, id, needs: [], writes: [] };
  });
  validate(
    outlines,
    {
      at: (key, task) => placeOf(root, ['tasks', task.index, key]),
      needsKey: 'needs',
      groups: null,
      groupRemedy: () => '',
    },
    log,
  );
}

/** No two tasks share a branch, and git allows no `a/b` beside `a`. */
function checkBranches(root: YamlNode, taken: readonly string[], log: ProblemLog): void {
  const seen = new Map<string, number>();
  for (const task of tasksOf(root)) {
    const node = entryOf(task, 'branch')?.value;
    const branch = textOf(node);
    if (node === undefined || branch === undefined || branch === '') continue;
    const name = quote(branch);
    if (taken.includes(branch)) {
      const message = `branch ${name} is where the work starts or goes to`;
      log.error(node.at, message, 'give the task a branch of its own, such as feature/…');
    }
    const [clash, line] = clashOf(branch, seen);
    if (clash === branch) {
      const remedy = `the task on line ${line} has it too: rename one`;
      log.error(node.at, `duplicate branch ${name}`, remedy);
    } else if (clash !== null) {
      const message = `branch ${name} cannot exist beside ${quote(clash)} (line ${line})`;
      log.error(node.at, message, 'rename one: git keeps a branch either as a file or a folder');
    }
    if (!seen.has(branch)) seen.set(branch, node.at.line);
  }
}

function clashOf(branch: string, seen: ReadonlyMap<string, number>): [string | null, number] {
  const same = seen.get(branch);
  if (same !== undefined) return [branch, same];
  for (const [other, line] of seen) {
    if (branch.startsWith(`${other}/`) || other.startsWith(`${branch}/`)) return [other, line];
  }
  return [null, 0];
}
