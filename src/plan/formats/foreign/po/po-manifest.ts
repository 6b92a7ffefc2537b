/**
 * parallel-orchestra manifests: Markdown whose front matter, YAML 1.1 as PyYAML reads it, is the plan.
 * What its loader refuses is refused, what it reads is read alike. docs/formats.md lists differences.
 */

import type {
  Conventions,
  InjectSpec,
  NotifySpec,
  Plan,
  TaskSpec,
} from '../../../../model/plan.ts';
import { validate } from '../../../lint/validate.ts';
import { type Place, ProblemLog, quote, START } from '../../../problem.ts';
import { markerIn, splitFrontMatter, withoutBom } from '../../../syntax/markdown.ts';
import {
  describe,
  entryOf,
  expectMap,
  isNothing,
  itemsOf,
  mustBe,
  readYaml,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '../../../syntax/yaml.ts';
import {
  type ParsedPlan,
  type PlanFormat,
  type PlanInput,
  type SourceFile,
  stemOf,
} from '../../format.ts';
import { webhookRefusal } from '../../native/values.ts';
import { FOREIGN_PLAN } from '../foreign-plan.ts';
import {
  expectText,
  isAbsolute,
  isModel,
  readRetries,
  readSettings,
  readTasks,
  relativePath,
  type TaskSettings,
  TIME_KEYS,
  toInteger,
} from './task.ts';

export const poManifest: PlanFormat = {
  name: 'po-manifest',
  marker: 'a key po_plan_version or clade_plan_version in the front matter',
  detect,
  parse,
  leftover: {
    tool: 'parallel-orchestra',
    fileFor: (stem) => `.po-run-state-${stem}.json`,
    completedIn,
  },
};

function completedIn(text: string): readonly string[] | null {
  try {
    const state: unknown = JSON.parse(text);
    if (typeof state !== 'object' || state === null || !('manifest_hash' in state)) return null;
    const done = 'completed_tasks' in state ? state.completed_tasks : null;
    return Array.isArray(done) ? done.map(String) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** What Python takes for the end of a line. */
const LINE_BREAK = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

const CONVENTIONS: Conventions = {
  branch: 'parallel-orchestra/{task}-{hash}',
  workspace: '{run}/{task}',
  commitMessage: 'parallel-orchestra: task {task} [auto-commit]',
  mergeMessage: 'Merge parallel-orchestra task {task}',
  conflictExit: 3,
  summary: 'lines',
  noTasks: 'error',
  edits: 'apart',
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
  return root && expectMap(root, 'front matter', log);
}

function readManifest(root: YamlMap, input: PlanInput, log: ProblemLog): Plan {
  const dialect = readDialect(root, log);
  const cwd = dialect.isOld ? '' : readFolder(root, log);
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
      isExclusive: true,
    },
    log,
  );
  return {
    name: nameOf(root, input.file.path),
    tasks: inTheirPlace(tasks.map(({ spec }) => spec)),
    ...FOREIGN_PLAN,
    workspace: {
      ...FOREIGN_PLAN.workspace,
      inject: [settingsOf(cwd, input)],
      salvage: `${SETTINGS}/reports`,
    },
    landing: { ...FOREIGN_PLAN.landing, order: 'plan' },
    limits: { workers: dialect.workers, gates: 1, groups: groups ?? {} },
    notify,
    conventions: CONVENTIONS,
  };
}

function readFolder(root: YamlMap, log: ProblemLog): string {
  const entry = entryOf(root, 'cwd');
  if (entry === undefined) log.error(root.at, 'cwd is missing', 'add cwd');
  return (entry && expectText(entry.value, 'cwd', log)) ?? '';
}

/**
 * A read-only task looks at the user's checkout as it is; one that comes after tasks that write
 * finds their work only in a workspace, because nothing is published before the end.
 */
function inTheirPlace(tasks: readonly TaskSpec[]): readonly TaskSpec[] {
  const after = new Set(tasks.filter(({ mode }) => mode === 'write').map(({ id }) => id));
  for (let known = 0; known !== after.size; ) {
    known = after.size;
    for (const { id, needs } of tasks) if (needs.some((need) => after.has(need))) after.add(id);
  }
  return tasks.map((task) => (after.has(task.id) ? task : { ...task, inPlace: true }));
}

function readDefaults(
  root: YamlMap,
  { isOld }: Dialect,
  log: ProblemLog,
): { readonly retries: number | null; readonly settings: TaskSettings } {
  const defaults = entryOf(root, 'defaults')?.value;
  const map = defaults && expectMap(defaults, 'defaults', log);
  if (!map) return { retries: null, settings: {} };
  const known: readonly string[] = ['max_retries', 'model', ...(isOld ? TIME_KEYS : [])];
  for (const { key, keyAt } of map.entries.values()) {
    if (known.includes(String(key))) continue;
    const remedy = `only ${known.join(', ')} are known there`;
    log.warning(keyAt, `defaults.${String(key)} is ignored`, remedy);
  }
  return {
    retries: readRetries(map, 'defaults.max_retries', log),
    settings: readSettings(map, 'defaults.', isOld, log),
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

/** Any scalar is a name. */
function nameOf(root: YamlMap, path: string): string {
  const node = entryOf(root, 'name')?.value;
  const isText = node?.kind === 'scalar' && node.value !== null && typeof node.value !== 'object';
  const name = isText ? String(node.value) : '';
  return name || stemOf(path) || 'plan';
}

export interface Dialect {
  /** The predecessor clade-parallel: tasks have times, pauses and a `cwd`, the manifest has none. */
  readonly isOld: boolean;
  /** The default of `max_retries`. */
  readonly retries: number;
  readonly workers: number;
}

const VERSION_KEY = 'po_plan_version';
const VERSION = '0.1';
const SEQUENTIAL = 'sequential';
const OLD_KEY = 'clade_plan_version';
const OLD_VERSIONS = ['0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7'];

const CURRENT: Dialect = { isOld: false, retries: 1, workers: 3 };
const OLD: Dialect = { isOld: true, retries: 0, workers: 3 };

/** With a wrong version the rest is still read, for its problems. */
function readDialect(root: YamlMap, log: ProblemLog): Dialect {
  const version = entryOf(root, VERSION_KEY);
  const old = entryOf(root, OLD_KEY);
  if (version === undefined && old !== undefined) return readOld(old, log);
  const remedy = `write ${VERSION_KEY}: "${VERSION}"`;
  if (version === undefined) {
    log.error(root.at, `${VERSION_KEY} is missing`, remedy);
    return CURRENT;
  }
  const text = expectText(version.value, VERSION_KEY, log, remedy);
  if (text === SEQUENTIAL) {
    const message = `${VERSION_KEY} "${SEQUENTIAL}": its tasks run one at a time`;
    log.warning(version.value.at, message, '--max-workers changes that');
    return { ...CURRENT, workers: 1 };
  }
  if (text !== null && text !== VERSION) {
    const message = `unsupported ${VERSION_KEY} ${quote(text)}; supported: "${VERSION}"`;
    log.error(version.value.at, message, remedy);
  }
  return CURRENT;
}

function readOld(entry: YamlEntry, log: ProblemLog): Dialect {
  const text = expectText(entry.value, OLD_KEY, log);
  if (text !== null && !OLD_VERSIONS.includes(text)) {
    const range = `"${OLD_VERSIONS[0]}" to "${OLD_VERSIONS.at(-1)}"`;
    log.error(entry.value.at, `unsupported ${OLD_KEY} ${quote(text)}; supported: ${range}`);
  } else if (text !== null) {
    const message = `${OLD_KEY} is the key of parallel-orchestra's predecessor: the manifest is read as one`;
    log.warning(entry.keyAt, message, "docs/formats.md in landfast's package says what that means");
  }
  return OLD;
}

/** In the order of sending: `on_complete` comes first, also for a failed run. */
const OCCASIONS = [
  ['on_complete', 'finished'],
  ['on_failure', 'failed'],
] as const;

function readWebhooks(root: YamlMap, log: ProblemLog): readonly NotifySpec[] {
  return OCCASIONS.flatMap(([section, on]) => {
    const url = readWebhook(root, section, log);
    return url === null ? [] : [{ on: [on], to: { kind: 'webhook', url } }];
  });
}

function readWebhook(root: YamlMap, section: string, log: ProblemLog): string | null {
  const value = entryOf(root, section)?.value;
  const map = value && expectMap(value, section, log);
  if (!map) return null;
  for (const { key, keyAt } of map.entries.values()) {
    if (key === 'webhook_url') continue;
    log.warning(keyAt, `${section}.${String(key)} is ignored`, 'only webhook_url is known there');
  }
  const url = entryOf(map, 'webhook_url')?.value;
  if (url?.kind !== 'scalar' || typeof url.value !== 'string') {
    const found = url === undefined ? 'is missing' : `must be text, found ${describe(url)}`;
    log.error(url?.at ?? map.at, `${section}.webhook_url ${found}`);
    return null;
  }
  const refusal = webhookRefusal(url.value);
  if (refusal === null) return url.value;
  log.error(url.at, `${section}.webhook_url ${refusal.message}`, refusal.remedy);
  return null;
}

const MAX_GROUP_LIMIT = 256;

/** Null, and a problem in the log, if the section is wrong, or missing but needed. */
function readGroupLimits(
  root: YamlMap,
  used: ReadonlySet<string>,
  log: ProblemLog,
): Record<string, number> | null {
  const section = entryOf(root, 'concurrency_limits');
  if (section === undefined || isNothing(section.value)) {
    const [group] = used;
    if (group === undefined) return {};
    const names = [...used].map(quote).join(', ');
    const message = `concurrency_limits is missing, but tasks are in the groups ${names}`;
    log.error(section?.keyAt ?? root.at, message, `add concurrency_limits: { ${group}: 1 }`);
    return null;
  }
  const map = expectMap(section.value, 'concurrency_limits', log);
  if (map === null) return null;
  const limits = new Map<string, number>();
  for (const { key, keyAt, value } of map.entries.values()) {
    if (typeof key !== 'string' || key === '') {
      log.error(keyAt, 'concurrency_limits: a group must be text that is not empty');
      continue;
    }
    limits.set(key, readLimit(value, key, log));
    if (!used.has(key)) log.warning(keyAt, `concurrency_limits: no task is in group ${quote(key)}`);
  }
  return Object.fromEntries(limits);
}

function readLimit(value: YamlNode, group: string, log: ProblemLog): number {
  const limit = toInteger(value);
  if (limit !== null && limit >= 1 && limit <= MAX_GROUP_LIMIT) return limit;
  const expected = `an integer from 1 to ${MAX_GROUP_LIMIT}`;
  mustBe(expected, value, `concurrency_limits: ${quote(group)}`, log);
  return 1;
}

/** Warns once that models, which parallel-orchestra itself ignores, take effect. */
function noteModels(root: YamlMap, log: ProblemLog): void {
  const maps = [entryOf(root, 'defaults')?.value, ...itemsOf(entryOf(root, 'tasks')?.value)];
  const known = maps
    .map((map) => entryOf(map, 'model'))
    .find((entry) => entry !== undefined && isModel(entry.value));
  if (known === undefined) return;
  log.warning(known.keyAt, "model is a key of parallel-orchestra's successor: it takes effect");
}
