/**
 * parallel-orchestra manifests: Markdown whose front matter, YAML 1.1 as PyYAML reads it, is the plan.
 * What its loader refuses is refused, with the same key in the message; what it reads is read alike,
 * down to `yes`, `010` and `max_retries: "2"`. docs/formats.md lists the differences.
 */

import {
  type Conventions,
  type InjectSpec,
  NO_SANDBOX,
  type NotifySpec,
  type Occasion,
  type Plan,
  type TaskSpec,
} from '../../../../model/plan.ts';
import { validate } from '../../../lint/validate.ts';
import { type Place, ProblemLog, quote, START } from '../../../problem.ts';
import { markerIn, splitFrontMatter, withoutBom } from '../../../syntax/front-matter.ts';
import {
  describe,
  entryOf,
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
import { readTasks } from './task.ts';
import {
  expectText,
  isAbsolute,
  noteModels,
  readGroupLimits,
  readRetries,
  readSettings,
  readText,
  relativePath,
  type TaskSettings,
  TIME_KEYS,
} from './values.ts';

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
      isExclusive: true,
    },
    log,
  );
  return {
    name: nameOf(root, input.file.path),
    tasks: inTheirPlace(tasks.map(({ spec }) => spec)),
    gates: [],
    workspace: {
      setup: [],
      setupKey: [],
      copy: [],
      inject: [settingsOf(cwd, input)],
      salvage: `${SETTINGS}/reports`,
    },
    landing: LANDING,
    limits: { workers: dialect.workers, gates: 1, groups: groups ?? {} },
    sandbox: NO_SANDBOX,
    notify,
    conventions: CONVENTIONS,
  };
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

const LANDING: Plan['landing'] = {
  strategy: 'merge',
  verify: 'off',
  onConflict: 'fail',
  order: 'plan',
  onGateFailure: 'fail',
  onSemantic: 'warn',
  reworks: 0,
  publish: 'end',
};

function readDefaults(
  root: YamlMap,
  { isOld }: Dialect,
  log: ProblemLog,
): { readonly retries: number | null; readonly settings: TaskSettings } {
  const defaults = entryOf(root, 'defaults');
  if (defaults === undefined) return { retries: null, settings: {} };
  const { value } = defaults;
  if (value.kind !== 'map') {
    log.error(value.at, `defaults must be a mapping, found ${describe(value)}`);
    return { retries: null, settings: {} };
  }
  const known: readonly string[] = ['max_retries', 'model', ...(isOld ? TIME_KEYS : [])];
  for (const { key, keyAt } of value.entries.values()) {
    if (known.includes(String(key))) continue;
    const remedy = `only ${known.join(', ')} are known there`;
    log.warning(keyAt, `defaults.${String(key)} is ignored`, remedy);
  }
  return {
    retries: readRetries(value, 'defaults.max_retries', log),
    settings: readSettings(value, 'defaults.', isOld, log),
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
  const node: YamlNode | undefined = entryOf(root, 'name')?.value;
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
export function readDialect(root: YamlMap, log: ProblemLog): Dialect {
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
const SECTIONS: readonly (readonly [section: string, on: Occasion])[] = [
  ['on_complete', 'finished'],
  ['on_failure', 'failed'],
];

export function readWebhooks(root: YamlMap, log: ProblemLog): readonly NotifySpec[] {
  return SECTIONS.flatMap(([section, on]) => {
    const url = readWebhook(root, section, log);
    return url === null ? [] : [{ on: [on], to: { kind: 'webhook', url } }];
  });
}

function readWebhook(root: YamlMap, section: string, log: ProblemLog): string | null {
  const entry = entryOf(root, section);
  if (entry === undefined) return null;
  if (entry.value.kind !== 'map') {
    log.error(entry.value.at, `${section} must be a mapping, found ${describe(entry.value)}`);
    return null;
  }
  for (const { key, keyAt } of entry.value.entries.values()) {
    if (key === 'webhook_url') continue;
    log.warning(keyAt, `${section}.${String(key)} is ignored`, 'only webhook_url is known there');
  }
  const url = entryOf(entry.value, 'webhook_url')?.value;
  if (url?.kind !== 'scalar' || typeof url.value !== 'string') {
    const found = url === undefined ? 'is missing' : `must be text, found ${describe(url)}`;
    log.error(url?.at ?? entry.value.at, `${section}.webhook_url ${found}`);
    return null;
  }
  const refusal = webhookRefusal(url.value);
  if (refusal === null) return url.value;
  log.error(url.at, `${section}.webhook_url ${refusal.message}`, refusal.remedy);
  return null;
}
