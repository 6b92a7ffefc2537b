/**
 * A directory becomes a Plan. A wave is a barrier: its tasks need all of the wave before and its
 * validation, unless only `deps` order them. Packages come first, in a commit of their own. A change
 * in the BOUNDARY fails a task; one outside of CREATE and MODIFY is reported.
 */

import { shellWord } from '../../../../base/shell-word.ts';
import {
  type Conventions,
  NO_OPTIONS,
  NO_SANDBOX,
  type Plan,
  type TaskSpec,
} from '../../../../model/plan.ts';
import type { CpoTask, Manifest, Wave } from './manifest.ts';
import type { Order } from './order.ts';
import { asksForMarker } from './prompts.ts';

export interface ReadDirectory {
  readonly manifest: Manifest;
  readonly tasks: readonly CpoTask[];
  readonly order: Order;
  readonly prompts: ReadonlyMap<string, { readonly prompt: string; readonly title: string }>;
  /** The script that installs the packages; null if there are none. */
  readonly packages: string | null;
  /** Relative to the repository's root. */
  readonly directory: string;
  readonly barriers: boolean;
}

const HOUR_MS = 3_600_000;
/** The marker of a finished task, and what package managers install into. */
const NEVER_COMMITTED = ['/.claude-task-complete', '.venv/', 'node_modules/'];
const DEPENDENCIES = 'dependencies';

export function lower(read: ReadDirectory): Plan {
  const { manifest, directory } = read;
  const waves = manifest.waves;
  const largest = Math.max(1, ...waves.map(({ tasks }) => tasks.length));
  const folder = directory.split('/').at(-1) ?? '';
  const spec = manifest.spec ?? '';
  return {
    name: [spec, manifest.name ?? ''].filter((part) => part !== '').join('-') || folder,
    tasks: [
      ...(read.packages === null ? [] : [packagesTask(read.packages)]),
      ...waves.flatMap((wave) => lowerWave(wave, read)),
    ],
    gates: [],
    workspace: { setup: [], setupKey: [], copy: [], inject: [], exclude: NEVER_COMMITTED },
    landing: LANDING,
    limits: { workers: manifest.maxParallel ?? largest, gates: 1, groups: {} },
    sandbox: NO_SANDBOX,
    notify: [],
    conventions: conventionsOf(directory, spec),
  };
}

/** Ids of generated tasks, which no task of a manifest may have. */
export function isReserved(id: string): boolean {
  return id === DEPENDENCIES || /^wave-\d+-validation$/.test(id);
}

const LANDING: Plan['landing'] = {
  strategy: 'rebase',
  verify: 'off',
  onConflict: 'fail',
  onGateFailure: 'fail',
  onSemantic: 'warn',
  reworks: 0,
  publish: 'end',
};

function conventionsOf(directory: string, spec: string): Conventions {
  const within = (name: string): string => (directory === '' ? name : `${directory}/${name}`);
  return {
    branch: 'feature/{task}-{hash}',
    workspace: '{run}/{task}',
    commitMessage: 'feat({task}): {title}',
    mergeMessage: 'Land {task}',
    conflictExit: 1,
    summary: 'report',
    noTasks: 'error',
    edits: 'none',
    logs: { dir: within('logs'), style: 'result' },
    reports: [
      { path: within('report.json'), style: 'waves-json', subject: spec },
      { path: within('execution-report.md'), style: 'waves-text', subject: spec },
    ],
  };
}

function lowerWave(wave: Wave, read: ReadDirectory): readonly TaskSpec[] {
  const tasks = read.tasks.filter((task) => task.wave === wave.number);
  const specs = tasks.map((task) => lowerTask(task, needsOf(task, read), read));
  if (wave.validation === null) return specs;
  const script = validationScript(wave.validation.text);
  const needs = specs.map(({ id }) => id);
  return [...specs, validationTask(wave.number, script, needs)];
}

function needsOf(
  task: CpoTask,
  { manifest, tasks, order, packages, barriers }: ReadDirectory,
): string[] {
  const deps = [...(order.get(task.id) ?? [])];
  const first = packages === null ? [] : [DEPENDENCIES];
  if (!barriers) return deps.length === 0 ? first : deps;
  const before = manifest.waves.filter(({ number }) => number < task.wave).at(-1);
  if (before === undefined) return first;
  const ids = tasks.filter(({ wave }) => wave === before.number).map(({ id }) => id);
  const validation = before.validation === null ? [] : [validationId(before.number)];
  return [...new Set([...ids, ...validation, ...deps])];
}

const COMMON: Omit<TaskSpec, 'id' | 'prompt'> = {
  agent: 'claude',
  mode: 'write',
  needs: [],
  hears: [],
  writes: [],
  outside: 'report',
  forbids: [],
  checks: [],
  retries: 1,
  timeoutMs: 2 * HOUR_MS,
  idleMs: HOUR_MS / 2,
  permissions: 'bypassPermissions',
  allowEmpty: true,
  env: {},
  options: NO_OPTIONS,
  answer: 'free',
};

function lowerTask(task: CpoTask, needs: readonly string[], read: ReadDirectory): TaskSpec {
  const { file, entry, id } = task;
  const { create = [], modify = [], boundary = [] } = file?.scope ?? {};
  const role = entry.agent ?? file?.agent?.text;
  const writes = [...new Set([...create, ...modify].map(({ path }) => path))];
  const { prompt = '', title = id } = read.prompts.get(id) ?? {};
  return {
    ...COMMON,
    id,
    title,
    prompt,
    ...(role === undefined ? {} : { role }),
    wave: task.wave,
    needs,
    writes,
    forbids: forbidsOf(boundary, read.directory),
    allowEmpty: writes.length === 0,
    answer: asksForMarker(prompt) ? 'marker' : 'completion',
  };
}

/** Part of a file cannot be forbidden without the rest; only the prompt mentions it. */
function forbidsOf(
  boundary: readonly { readonly path: string; readonly part: string | null }[],
  directory: string,
): readonly string[] {
  const paths = boundary.filter(({ part }) => part === null).map(({ path }) => path);
  const isInside = directory !== '' && !directory.startsWith('..');
  return [...new Set([...paths, ...(isInside ? [`${directory}/contracts/**`] : [])])];
}

function packagesTask(commands: string): TaskSpec {
  return {
    ...COMMON,
    id: DEPENDENCIES,
    title: 'Packages',
    prompt: `set -eu\n${commands}\n`,
    agent: 'shell',
    retries: 0,
    commitMessage: 'chore(deps): bring the packages of the plan',
  };
}

function validationId(wave: number): string {
  return `wave-${wave}-validation`;
}

function validationTask(wave: number, prompt: string, needs: readonly string[]): TaskSpec {
  return {
    ...COMMON,
    id: validationId(wave),
    title: `Validation of wave ${wave}`,
    prompt,
    agent: 'shell',
    mode: 'read',
    wave,
    needs,
    retries: 0,
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  };
}

/** A text that begins like Python runs in the project's interpreter, any other in the shell. */
function validationScript(text: string): string {
  if (!/^(?:from|import)\s/.test(text)) return text;
  return `main=$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")
if [ -f pyproject.toml ] && command -v uv > /dev/null; then set -- uv run python
elif [ -x .venv/bin/python ]; then set -- .venv/bin/python
elif [ -x "$main/.venv/bin/python" ]; then set -- "$main/.venv/bin/python"
else set -- python3
fi
"$@" -c ${shellWord(text)}`;
}
