/**
 * parallel-orchestra manifests: Markdown whose front matter, in YAML 1.1 as PyYAML reads it, is the
 * plan. docs/formats.md says what is kept of their behaviour and what is mended.
 *
 *   P1. What their loader refuses is refused, and the message names the same key.
 *   P2. What it reads is read alike, down to `yes`, `010` and `max_retries: "2"`.
 */

import { type Conventions, type InjectSpec, NO_SANDBOX, type Plan } from '../../model/plan.ts';
import { markerIn, splitFrontMatter, withoutBom } from '../front-matter.ts';
import { type Place, ProblemLog, START } from '../problem.ts';
import { validate } from '../validate.ts';
import { describe, entryOf, readYaml, type YamlMap, type YamlNode } from '../yaml-source.ts';
import type { ParsedPlan, PlanFormat, PlanInput, SourceFile } from './format.ts';
import { type Dialect, readDialect } from './po-manifest/dialect.ts';
import { isAbsolute, relativePath } from './po-manifest/paths.ts';
import { readTasks } from './po-manifest/task.ts';
import { readGroupLimits, readRetries, readText } from './po-manifest/values.ts';
import { readWebhooks } from './po-manifest/webhook.ts';
import { noteModels, readWishes, type TaskWishes, TIME_KEYS } from './po-manifest/wishes.ts';

export const poManifest: PlanFormat = {
  name: 'po-manifest',
  marker: 'a key po_plan_version or clade_plan_version in the front matter',
  detect,
  parse,
};

/** Everything Python takes for the end of a line. */
const LINE_BREAK = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

const CONVENTIONS: Conventions = {
  branch: 'parallel-orchestra/{task}-{hash}',
  workspace: '{run}/{task}',
  commitMessage: 'parallel-orchestra: task {task} [auto-commit]',
  mergeMessage: 'Merge parallel-orchestra task {task}',
  conflictExit: 3,
  summary: 'lines',
  noTasks: 'error',
  logs: { dir: '.claude/logs', style: 'streams' },
  reports: [],
};

const MARKER = /^(["']?)(?:po|clade)_plan_version\1\s*:/m;

function detect(file: SourceFile): Place | null {
  const text = withoutBom(file.text);
  return markerIn(splitFrontMatter(text, LINE_BREAK), text, MARKER);
}

function parse(input: PlanInput): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const root = readRoot(input.file.text, log);
  const plan = root === null ? null : readManifest(root, input, log);
  return {
    plan: log.failed ? null : plan,
    format: poManifest.name,
    problems: log.sorted(),
  };
}

function readRoot(text: string, log: ProblemLog): YamlMap | null {
  const front = splitFrontMatter(withoutBom(text), LINE_BREAK);
  if (front.kind === 'none') {
    log.error(START, 'front matter must start on line 1 with ---', 'make the first line ---');
    return null;
  }
  if (front.kind === 'open') {
    log.error(START, 'front matter is not closed', 'end it with a line that is exactly ---');
    return null;
  }
  const root = readYaml({ text: front.yaml, firstLine: 2, version: '1.1' }, log);
  if (root === null || root.kind === 'map') return root;
  log.error(root.at, `front matter must be a mapping, found ${describe(root)}`);
  return null;
}

function readManifest(root: YamlMap, input: PlanInput, log: ProblemLog): Plan {
  const dialect = readDialect(root, log);
  const cwd = (dialect.isOld ? null : readText(root, 'cwd', log)) ?? '';
  const defaults = readDefaults(root, dialect, log);
  const notify = readWebhooks(root, log);
  const { directory, repository } = input;
  const around = { ...defaults, dialect, cwd, directory, root: repository.root };
  const tasks = readTasks(root, around, log);
  noteModels(root, log);
  const used = new Set(tasks.map(({ outline }) => outline.group).filter((g) => g !== undefined));
  const groups = readGroupLimits(root, used, log);
  validate(
    tasks.map(({ outline }) => outline),
    {
      at: (key, task, item) => tasks.find(({ outline }) => outline === task)!.at(key, item),
      needsKey: 'depends_on',
      groups: groups === null ? null : new Set(Object.keys(groups)),
      groupRemedy: (group) => `add it: concurrency_limits: { ${group}: 1 }`,
    },
    log,
  );
  return {
    name: nameOf(root, input.file.path),
    tasks: tasks.map(({ spec }) => spec),
    gates: [],
    workspace: { setup: [], setupKey: [], copy: [], inject: [settingsOf(cwd, input)] },
    landing: LANDING,
    limits: { workers: dialect.workers, gates: 1, groups: groups ?? {} },
    sandbox: NO_SANDBOX,
    notify,
    conventions: CONVENTIONS,
  };
}

const LANDING: Plan['landing'] = {
  strategy: 'merge',
  verify: 'off',
  onConflict: 'fail',
  onGateFailure: 'fail',
  reworks: 0,
  publish: 'end',
};

/** What `defaults` says for all tasks. */
function readDefaults(
  root: YamlMap,
  { isOld }: Dialect,
  log: ProblemLog,
): { readonly retries: number | null; readonly wishes: TaskWishes } {
  const defaults = entryOf(root, 'defaults');
  if (defaults === undefined) return { retries: null, wishes: {} };
  const { value } = defaults;
  if (value.kind !== 'map') {
    log.error(value.at, `defaults must be a mapping, found ${describe(value)}`);
    return { retries: null, wishes: {} };
  }
  const known: readonly string[] = ['max_retries', 'model', ...(isOld ? TIME_KEYS : [])];
  for (const { key, keyAt } of value.entries.values()) {
    if (known.includes(String(key))) continue;
    const remedy = `only ${known.join(', ')} are known there`;
    log.warning(keyAt, `defaults.${String(key)} is ignored`, remedy);
  }
  return {
    retries: readRetries(value, 'defaults.max_retries', log),
    wishes: readWishes(value, 'defaults.', isOld, log),
  };
}

/**
 * The `.claude` folder that workspaces get: that of `cwd`, else the one of the root. Not all of it:
 * the agents of write tasks work without the project's memory and permissions.
 */
function settingsOf(cwd: string, { directory, repository }: PlanInput): InjectSpec {
  const folder = isAbsolute(cwd) ? cwd : relativePath(directory, cwd);
  const own = folder === '' ? SETTINGS : `${folder}/${SETTINGS}`;
  return {
    from: repository.list(own).length > 0 ? own : SETTINGS,
    to: SETTINGS,
    skip: [
      ...['CLAUDE.md', 'settings.json', 'logs', 'memory'],
      ...['reports/!(plan-report-*.md)', 'reports/*/**'],
    ],
    blank: ['CLAUDE.md'],
  };
}

const SETTINGS = '.claude';

/** Any scalar is a name; without one the file's name stands in. */
function nameOf(root: YamlMap, path: string): string {
  const node: YamlNode | undefined = entryOf(root, 'name')?.value;
  const isText = node?.kind === 'scalar' && node.value !== null && typeof node.value !== 'object';
  const name = isText ? String(node.value) : '';
  const stem = (path.split(/[\\/]/).at(-1) ?? '').replace(/(?<=.)\.[^.]*$/, '');
  return name || stem || 'plan';
}
