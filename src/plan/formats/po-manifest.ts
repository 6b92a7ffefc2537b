/**
 * parallel-orchestra manifests: Markdown whose front matter, in YAML 1.1 as PyYAML reads it, is the
 * plan. docs/formats.md says what is kept of their behaviour and what is mended.
 *
 *   P1. What their loader refuses is refused, and the message names the same key.
 *   P2. What it reads is read alike, down to `yes`, `010` and `max_retries: "2"`.
 */

import { type Conventions, type LimitsSpec, NO_SANDBOX, type Plan } from '../../model/plan.ts';
import { markerIn, splitFrontMatter, withoutBom } from '../front-matter.ts';
import { type Place, ProblemLog, quote, START } from '../problem.ts';
import { validate } from '../validate.ts';
import { describe, entryOf, readYaml, type YamlMap, type YamlNode } from '../yaml-source.ts';
import type { ParsedPlan, PlanFormat, PlanInput, SourceFile } from './format.ts';
import { readTasks } from './po-manifest/task.ts';
import { readGroupLimits, readRetries, readText } from './po-manifest/values.ts';
import { readWebhooks } from './po-manifest/webhook.ts';

export const poManifest: PlanFormat = {
  name: 'po-manifest',
  marker: 'a key po_plan_version or clade_plan_version in the front matter',
  detect,
  parse,
};

const VERSION_KEY = 'po_plan_version';
const OLD_VERSION_KEY = 'clade_plan_version';
const VERSION = '0.1';

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
  checkVersion(root, log);
  const cwd = readText(root, 'cwd', log) ?? '';
  const retries = readDefaults(root, log);
  const notify = readWebhooks(root, log);
  const tasks = readTasks(root, { cwd, retries, directory: input.directory }, log);
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
    workspace: { setup: [], setupKey: [], copy: [], inject: [] },
    landing: LANDING,
    limits: { ...LIMITS, groups: groups ?? {} },
    sandbox: NO_SANDBOX,
    notify,
    conventions: CONVENTIONS,
  };
}

const LIMITS: LimitsSpec = { workers: 3, gates: 1, groups: {} };
const LANDING: Plan['landing'] = {
  strategy: 'merge',
  verify: 'off',
  onConflict: 'fail',
  onGateFailure: 'fail',
  reworks: 0,
  publish: 'end',
};

function checkVersion(root: YamlMap, log: ProblemLog): void {
  const version = entryOf(root, VERSION_KEY);
  const remedy = `write ${VERSION_KEY}: "${VERSION}"`;
  if (version === undefined) {
    const old = entryOf(root, OLD_VERSION_KEY);
    if (old === undefined) log.error(root.at, `${VERSION_KEY} is missing`, remedy);
    else {
      const message = `${VERSION_KEY} is missing: ${OLD_VERSION_KEY} is the key of an older tool`;
      log.error(old.keyAt, message, `${remedy} instead, and see docs/formats.md for its keys`);
    }
    return;
  }
  const { value } = version;
  if (value.kind !== 'scalar' || typeof value.value !== 'string') {
    log.error(value.at, `${VERSION_KEY} must be text, found ${describe(value)}`, remedy);
  } else if (value.value !== VERSION) {
    const found = quote(value.value);
    log.error(value.at, `unsupported ${VERSION_KEY} ${found}; supported: "${VERSION}"`, remedy);
  }
}

/** `defaults.max_retries`, or null where it is not given. */
function readDefaults(root: YamlMap, log: ProblemLog): number | null {
  const defaults = entryOf(root, 'defaults');
  if (defaults === undefined) return null;
  const { value } = defaults;
  if (value.kind !== 'map') {
    log.error(value.at, `defaults must be a mapping, found ${describe(value)}`);
    return null;
  }
  for (const { key, keyAt } of value.entries.values()) {
    if (key === 'max_retries') continue;
    log.warning(keyAt, `defaults.${String(key)} is ignored`, 'only max_retries is known there');
  }
  return readRetries(value, 'defaults.max_retries', log);
}

/** Any scalar is a name; without one the file's name stands in. */
function nameOf(root: YamlMap, path: string): string {
  const node: YamlNode | undefined = entryOf(root, 'name')?.value;
  const isText = node?.kind === 'scalar' && node.value !== null && typeof node.value !== 'object';
  const name = isText ? String(node.value) : '';
  const stem = (path.split(/[\\/]/).at(-1) ?? '').replace(/(?<=.)\.[^.]*$/, '');
  return name || stem || 'plan';
}
