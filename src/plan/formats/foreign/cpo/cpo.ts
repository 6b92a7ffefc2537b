/**
 * cpo directories: `parallel/TS-0042-name/` with a manifest of waves, task files, contracts and
 * prompts. The manifest says which tasks there are and in which wave, the task files the rest. Every
 * problem names its own file.
 */

import { DirectoryLogs, type Place, placeAt, START } from '../../../problem.ts';
import { withoutBom } from '../../../syntax/front-matter.ts';
import { readJson } from '../../../syntax/json.ts';
import { describe, type YamlMap } from '../../../syntax/yaml.ts';
import type { ParsedPlan, PlanFormat, PlanInput, SourceFile } from '../../format.ts';
import { isReserved, lower } from './lower.ts';
import {
  type CpoTask,
  fileFinder,
  isLegacy,
  type Manifest,
  readLegacy,
  readManifest,
} from './manifest.ts';
import { checkTaskGraph, readOrder, readTaskGraph } from './order.ts';
import { checkPythonVersion, dependencyScript } from './packages.ts';
import { lacksOf, readPrompts } from './prompts.ts';
import { checkOwnership } from './scope.ts';
import { readTaskFile, type TaskFile } from './task-file.ts';

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
  if (root === null || root.kind === 'map') return root;
  log.error(root.at, `a manifest must be an object, found ${describe(root)}`);
  return null;
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
    packages: dependencyScript(manifest.dependencies, input.repository, log),
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
  logs: DirectoryLogs,
): void {
  const log = logs.main;
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
