/**
 * cpo directories: `parallel/TS-0042-name/` with a manifest of waves, task files, contracts and
 * prompts. The manifest says which tasks there are and in which wave, the task files the rest. Every
 * problem names its own file.
 */

import { shellWord } from '../../../../base/shell-word.ts';
import type { Conventions, Plan, TaskSpec } from '../../../../model/plan.ts';
import { DirectoryLogs, type Place, placeAt, START } from '../../../problem.ts';
import { readJson } from '../../../syntax/json.ts';
import { withoutBom } from '../../../syntax/markdown.ts';
import { expectMap, type YamlMap } from '../../../syntax/yaml.ts';
import type { ParsedPlan, PlanFormat, PlanInput, SourceFile } from '../../format.ts';
import { FOREIGN_PLAN, FOREIGN_TASK } from '../foreign-plan.ts';
import {
  type CpoTask,
  fileFinder,
  isLegacy,
  type Manifest,
  readLegacy,
  readManifest,
  type Wave,
} from './manifest.ts';
import { checkTaskGraph, readOrder, readTaskGraph } from './order.ts';
import { checkPythonVersion, dependencyScript } from './packages.ts';
import { asksForMarker, lacksOf, readPrompts } from './prompts.ts';
import { checkOwnership, readTaskFile, type TaskFile } from './task-file.ts';

export const cpo: PlanFormat = {
  name: 'cpo',
  marker: 'a file manifest.json, or JSON with a key tech_spec_id',
  detect,
  parse,
  promptFiles: { lacksOf, made: promptsMade },
};

const GRAPH = 'task-graph.md';

function detect({ path, text }: SourceFile): Place | null {
  const plain = withoutBom(text);
  const key = /^\s*\{/.test(plain) ? /"tech_spec_id"\s*:/.exec(plain) : null;
  if (key !== null) return placeAt(plain, key.index);
  const isManifest = /(?:^|[\\/])manifest\.json$/.test(path);
  return isManifest && !/["']?landfast["']?\s*:/.test(plain) ? START : null;
}

function parse(input: PlanInput): ParsedPlan {
  const logs = new DirectoryLogs(input.file.path);
  const root = readRoot(input.file.text, logs);
  const plan = root === null ? null : lower(readDirectory(root, input, logs));
  return { plan: logs.failed ? null : plan, format: cpo.name, problems: logs.all() };
}

function readRoot(text: string, logs: DirectoryLogs): YamlMap | null {
  const log = logs.main;
  const root = readJson({ text: withoutBom(text), firstLine: 1 }, log);
  return root && expectMap(root, 'a manifest', log, { called: 'an object' });
}

function promptsMade(input: PlanInput): ReadonlyMap<string, string> {
  const logs = new DirectoryLogs(input.file.path);
  const root = readRoot(input.file.text, logs);
  const prompts = root === null ? [] : [...readDirectory(root, input, logs).prompts.values()];
  return new Map(
    prompts.flatMap(({ file, made }) => (file === null || made === null ? [] : [[file, made]])),
  );
}

function readDirectory(root: YamlMap, input: PlanInput, logs: DirectoryLogs) {
  const log = logs.main;
  const files = input
    .list('tasks')
    .filter((name) => /\.md$/i.test(name))
    .flatMap((name) => {
      const path = `tasks/${name}`;
      const text = input.read(path);
      return text === null ? [] : [readTaskFile(path, text, logs.of(path))];
    });
  const manifest = isLegacy(root) ? readLegacy(root, files, log) : readManifest(root, log);
  checkPythonVersion(root, input.repository, log);
  const tasks = tasksOf(manifest, files);
  checkTasks(tasks, files, logs);
  const order = readOrder(tasks, log);
  checkOwnership(tasks);
  const graph = input.read(GRAPH);
  if (graph !== null) checkTaskGraph(readTaskGraph(graph), tasks, order, logs.of(GRAPH));
  return {
    manifest,
    tasks,
    order,
    prompts: readPrompts(tasks, { input, order, manifest }, logs),
    /** The script that installs the packages; null if there are none. */
    packages: dependencyScript(manifest.dependencies, input.repository, log),
    /** Relative to the repository's root. */
    directory: input.directory,
    barriers: input.options.barriers !== false,
  };
}

function tasksOf(manifest: Manifest, files: readonly TaskFile[]): readonly CpoTask[] {
  const fileOf = fileFinder(files);
  return manifest.waves.flatMap(({ number: wave, tasks }) =>
    tasks.map((entry) => ({ id: entry.id, wave, entry, file: fileOf(entry.id) })),
  );
}

function checkTasks(
  tasks: readonly CpoTask[],
  files: readonly TaskFile[],
  { main: log }: DirectoryLogs,
): void {
  for (const { id, entry, file } of tasks) {
    if (isReserved(id)) log.error(entry.at, `no task may be called ${id}`, 'rename it');
    if (entry.agent === null && file?.agent == null) {
      log.error(entry.at, `${id}: agent is missing`, 'add it: "agent": "plugin:agent"');
    }
  }
  const used = new Set(tasks.map(({ file }) => file));
  for (const file of files) {
    if (used.has(file)) continue;
    const message = 'this task is not in the manifest and is ignored';
    file.log.warning(file.idAt, message, 'add it to a wave of manifest.json, or delete the file');
  }
}

/*
 * A directory becomes a Plan. A wave is a barrier: its tasks need all of the wave before and its
 * validation, unless only `deps` order them. Packages come first, in a commit of their own. A change
 * in the BOUNDARY fails a task; one outside of CREATE and MODIFY is reported.
 */

type ReadDirectory = ReturnType<typeof readDirectory>;

const HOUR_MS = 3_600_000;
/** The marker of a finished task, and what package managers install into. */
const NEVER_COMMITTED = ['/.claude-task-complete', '.venv/', 'node_modules/'];
const DEPENDENCIES = 'dependencies';

function lower(read: ReadDirectory): Plan {
  const { manifest, directory } = read;
  const { waves } = manifest;
  const largest = Math.max(1, ...waves.map(({ tasks }) => tasks.length));
  const folder = directory.split('/').at(-1) ?? '';
  const spec = manifest.spec ?? '';
  return {
    name: [spec, manifest.name ?? ''].filter((part) => part !== '').join('-') || folder,
    tasks: [
      ...(read.packages === null ? [] : [packagesTask(read.packages)]),
      ...waves.flatMap((wave) => lowerWave(wave, read)),
    ],
    ...FOREIGN_PLAN,
    workspace: { ...FOREIGN_PLAN.workspace, exclude: NEVER_COMMITTED },
    landing: { ...FOREIGN_PLAN.landing, strategy: 'rebase' },
    limits: { workers: manifest.maxParallel ?? largest, gates: 1, groups: {} },
    conventions: conventionsOf(directory, spec),
  };
}

/** Ids of generated tasks, which no task of a manifest may have. */
function isReserved(id: string): boolean {
  return id === DEPENDENCIES || /^wave-\d+-validation$/.test(id);
}

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
  ...FOREIGN_TASK,
  retries: 1,
  timeoutMs: 2 * HOUR_MS,
  idleMs: HOUR_MS / 2,
  permissions: 'bypassPermissions',
  allowEmpty: true,
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
