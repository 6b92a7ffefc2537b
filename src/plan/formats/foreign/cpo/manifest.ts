/**
 * manifest.json: waves of tasks. The current form lists them; in the form 1.0.0 the front matter of the
 * task files defines them.
 */

import { type Place, type ProblemLog, quote } from '../../../problem.ts';
import {
  describe,
  entryOf,
  expectMap,
  isNothing,
  itemsOf,
  mustBe,
  textOf,
  type YamlMap,
  type YamlNode,
} from '../../../syntax/yaml.ts';
import type { TaskFile } from './task-file.ts';

export interface Manifest {
  /** Such as `TS-0042`. */
  readonly spec: string | null;
  readonly name: string | null;
  readonly title: string | null;
  readonly dependencies: YamlNode | null;
  readonly maxParallel: number | null;
  readonly waves: readonly Wave[];
}

export interface Wave {
  readonly number: number;
  readonly at: Place;
  readonly tasks: readonly ManifestTask[];
  readonly validation: Word | null;
}

interface ManifestTask {
  readonly id: string;
  readonly at: Place;
  /** `plugin:agent`; if null, the task file has it. */
  readonly agent: string | null;
  readonly promptFile: Word | null;
  readonly component: string | null;
}

export function isLegacy(root: YamlMap): boolean {
  if (entryOf(root, 'waves') !== undefined) return false;
  return entryOf(root, 'tech_spec')?.value.kind === 'map' || entryOf(root, 'tasks') !== undefined;
}

export function readManifest(root: YamlMap, log: ProblemLog): Manifest {
  const spec = readWord(root, 'tech_spec_id', log);
  if (entryOf(root, 'tech_spec_id') === undefined) {
    log.error(root.at, 'tech_spec_id is missing', 'add it: "tech_spec_id": "TS-0042"');
  }
  const metadata = entryOf(root, 'metadata')?.value;
  const maxParallel = metadata === undefined ? null : readCount(metadata, 'max_parallel', log);
  return {
    ...headOf(root, log),
    spec: spec?.text ?? null,
    maxParallel,
    waves: readWaves(root, log),
  };
}

/** The form 1.0.0, whose tasks are those of the files. */
export function readLegacy(root: YamlMap, files: readonly TaskFile[], log: ProblemLog): Manifest {
  const section = entryOf(root, 'tech_spec')?.value;
  const id = section?.kind === 'map' ? readWord(section, 'id', log) : null;
  if (id === null) log.error(section?.at ?? root.at, 'tech_spec.id is missing', 'add it');
  if (files.length === 0) {
    log.error(root.at, 'there are no task files', 'put them into tasks/, as task-001-name.md');
  }
  const byWave = new Map<number, ManifestTask[]>();
  for (const file of files) {
    const { wave, agent, path } = file;
    if (wave === null) file.log.error(file.waveAt, 'wave is missing', 'add the wave: wave: 1');
    if (agent === null) file.log.error(file.idAt, 'agent is missing', 'add agent: plugin:agent');
    const tasks = byWave.get(wave ?? 1) ?? [];
    byWave.set(wave ?? 1, tasks);
    const at = placeOfFile(root, path) ?? root.at;
    const { id, component } = file;
    tasks.push({ id, at, agent: agent?.text ?? null, promptFile: null, component });
  }
  const numbers = [...byWave.keys()].sort((a, b) => a - b);
  const waves = numbers.map((number) => ({
    ...{ number, at: root.at, tasks: byWave.get(number) ?? [], validation: null },
  }));
  return { ...headOf(root, log), spec: id?.text ?? null, maxParallel: null, waves };
}

function placeOfFile(root: YamlMap, path: string): Place | null {
  const files = entryOf(entryOf(root, 'tasks')?.value, 'files')?.value;
  const isSame = (item: YamlNode) => item.kind === 'scalar' && path.endsWith(String(item.value));
  const same = itemsOf(files).find(isSame);
  return same?.at ?? null;
}

function headOf(root: YamlMap, log: ProblemLog): Pick<Manifest, 'name' | 'title' | 'dependencies'> {
  return {
    name: readWord(root, 'name', log)?.text ?? null,
    title: readWord(root, 'title', log)?.text ?? null,
    dependencies: entryOf(root, 'dependencies')?.value ?? null,
  };
}

function readWaves(root: YamlMap, log: ProblemLog): readonly Wave[] {
  const list = entryOf(root, 'waves')?.value;
  if (list === undefined) {
    log.error(root.at, 'waves is missing', 'add it: "waves": [{ "number": 1, "tasks": [] }]');
    return [];
  }
  if (list.kind !== 'list' || list.items.length === 0) {
    return mustBe('a list with at least one wave', list, 'waves', log) ?? [];
  }
  const waves = list.items.flatMap((item, index) => readWave(item, index, log) ?? []);
  checkNumbers(waves, log);
  return waves.toSorted((a, b) => a.number - b.number);
}

function readWave(item: YamlNode, index: number, log: ProblemLog): Wave | null {
  const node = expectMap(item, `waves[${index}]`, log, { called: 'an object' });
  if (node === null) return null;
  if (entryOf(node, 'number') === undefined) {
    log.error(node.at, `waves[${index}]: number is missing`, `add "number": ${index + 1}`);
  }
  const number = readCount(node, 'number', log);
  const list = entryOf(node, 'tasks')?.value;
  if (list?.kind !== 'list' || list.items.length === 0) {
    const found = list === undefined ? 'nothing' : describe(list);
    const message = `waves[${index}]: tasks must be a list with at least one task, found ${found}`;
    log.error(list?.at ?? node.at, message);
  }
  return {
    number: number ?? index + 1,
    at: entryOf(node, 'number')?.value.at ?? node.at,
    tasks: itemsOf(list).flatMap((task) => readTask(task, log) ?? []),
    validation: readWord(node, 'validation', log),
  };
}

const ID = /^[A-Za-z0-9][\w.-]*$/;

function readTask(item: YamlNode, log: ProblemLog): ManifestTask | null {
  const node = expectMap(item, 'a task', log, { called: 'an object' });
  if (node === null) return null;
  const id = readWord(node, 'id', log);
  if (id === null) {
    if (entryOf(node, 'id') === undefined) log.error(node.at, 'a task without id', 'add "id"');
    return null;
  }
  if (!ID.test(id.text) || id.text.includes('..')) {
    log.error(id.at, `id ${quote(id.text)} is not allowed`, 'use letters, digits, _, . and -');
  }
  if (entryOf(node, 'skills') !== undefined) {
    const remedy = 'move them to the task file, which agents see';
    log.warning(entryOf(node, 'skills')!.keyAt, 'skills in the manifest are ignored', remedy);
  }
  return {
    id: id.text,
    at: id.at,
    agent: readWord(node, 'agent', log)?.text ?? null,
    promptFile: readWord(node, 'prompt_file', log),
    component: readWord(node, 'component', log)?.text ?? null,
  };
}

function checkNumbers(waves: readonly Wave[], log: ProblemLog): void {
  const sorted = waves.toSorted((a, b) => a.number - b.number);
  for (const [index, { number, at }] of sorted.entries()) {
    if (number === index + 1) continue;
    const isTwice = sorted[index - 1]?.number === number;
    const message = isTwice ? `wave ${number} appears twice` : `there is no wave ${index + 1}`;
    log.error(at, message, 'number the waves 1, 2, 3 without a gap');
    return;
  }
}

/** By file name, by the id in its front matter, or by its number. */
export function fileFinder(files: readonly TaskFile[]): Find<TaskFile> {
  const stems = files.map((file) => {
    const id = file.path.replace(/^.*\//, '').replace(/\.md$/i, '');
    return { id, file };
  });
  const [byStem, byId] = [finderOf(stems), finderOf(files)];
  return (id) => {
    const [found, own] = [byStem(id), byId(id)];
    return found?.id !== id && own?.id === id ? own : (found?.file ?? null);
  };
}

export interface Word {
  readonly text: string;
  readonly at: Place;
}

/** Null if the key is absent, empty, or wrong, which is then in the log. */
export function readWord(map: YamlNode, key: string, log: ProblemLog): Word | null {
  const value = entryOf(map, key)?.value;
  if (value === undefined || isNothing(value)) return null;
  const text = textOf(value)?.trim();
  if (text === undefined) return mustBe('text', value, key, log, 'put it in quotes');
  if (text !== '') return { text, at: value.at };
  log.error(value.at, `${key} must not be empty`);
  return null;
}

/** A single text is a list of one. */
export function readWords(map: YamlNode, key: string, log: ProblemLog): readonly Word[] {
  const value = entryOf(map, key)?.value;
  if (value === undefined || isNothing(value)) return [];
  const single = textOf(value)?.trim();
  if (single !== undefined) return single === '' ? [] : [{ text: single, at: value.at }];
  if (value.kind !== 'list') return mustBe('a list', value, key, log) ?? [];
  return value.items.flatMap((item) => {
    const text = textOf(item)?.trim() ?? '';
    if (text !== '') return [{ text, at: item.at }];
    return mustBe('text', item, `${key}: an entry`, log) ?? [];
  });
}

export function readCount(map: YamlNode, key: string, log: ProblemLog): number | null {
  const value = entryOf(map, key)?.value;
  if (value === undefined || isNothing(value)) return null;
  const number = value.kind === 'scalar' ? value.value : null;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 1) return number;
  return mustBe('a whole number of at least 1', value, key, log);
}

/** The number that all spellings of an id share: 4 of `task-004-ingestion`. */
function numberOf(id: string): number | null {
  const [, digits] = /^task-0*(\d+)(?:\D|$)/i.exec(id) ?? [];
  return digits === undefined ? null : Number(digits);
}

export type Find<T> = (id: string) => T | null;

/** Finds by exact id, or by number if only one has it. */
export function finderOf<T extends { readonly id: string }>(all: readonly T[]): Find<T> {
  const byId = new Map(all.toReversed().map((one) => [one.id, one]));
  const byNumber = new Map<number, T | null>();
  for (const one of all) {
    const number = numberOf(one.id);
    if (number !== null) byNumber.set(number, byNumber.has(number) ? null : one);
  }
  return (id) => byId.get(id) ?? byNumber.get(numberOf(id) ?? Number.NaN) ?? null;
}

export interface CpoTask {
  readonly id: string;
  readonly wave: number;
  readonly entry: ManifestTask;
  readonly file: TaskFile | null;
}
