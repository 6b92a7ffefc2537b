/** The tasks of a manifest: each entry is checked key by key and becomes a TaskSpec. */

import { NO_OPTIONS, type TaskSpec } from '../../../../model/plan.ts';
import { normaliseGlob } from '../../../../model/scope.ts';
import type { TaskOutline } from '../../../lint/validate.ts';
import { type Place, type ProblemLog, quote } from '../../../problem.ts';
import {
  describe,
  entryOf,
  placeOf,
  textOf,
  type YamlMap,
  type YamlNode,
} from '../../../syntax/yaml.ts';
import type { Dialect } from './po-manifest.ts';
import {
  expectText,
  fromRoot,
  isAbsolute,
  isInside,
  readRetries,
  readSettings,
  readTexts,
  relativePath,
  retryOf,
  type TaskSettings,
  TIME_KEYS,
} from './values.ts';

export interface Surroundings {
  readonly dialect: Dialect;
  readonly cwd: string;
  /** `defaults.max_retries`. */
  readonly retries: number | null;
  readonly settings: TaskSettings;
  /** The manifest's folder relative to the repository's root. */
  readonly directory: string;
  readonly root: string;
}

export interface PoTask {
  readonly spec: TaskSpec;
  readonly outline: TaskOutline;
  at(key: 'id' | 'needs' | 'writes' | 'group', item?: number): Place;
}

const TIMEOUT_MS = 900_000;
const NAME = /^[A-Za-z0-9_-]+$/;
const FORBIDDEN = ['cwd', ...TIME_KEYS];
const GUARD = 'PO_WORKTREE_GUARD';
const BLOCKED_ENV = new Set([
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'LD_AUDIT',
  'DYLD_INSERT_LIBRARIES',
  'DYLD_LIBRARY_PATH',
  'PYTHONPATH',
  GUARD,
]);

/** Every task with an id, even if the rest of it is wrong. */
export function readTasks(root: YamlMap, around: Surroundings, log: ProblemLog): readonly PoTask[] {
  const list = entryOf(root, 'tasks')?.value;
  if (list?.kind !== 'list' || list.items.length === 0) {
    log.error(list?.at ?? root.at, `tasks ${whatIsWrong(list)}`, 'list at least one task');
    return [];
  }
  const cwd = workingFolder(root, around.cwd, around, log);
  return list.items.flatMap((item, index) => {
    if (item.kind === 'map') return new TaskReader(item, index, log).read(around, cwd) ?? [];
    log.error(item.at, `tasks[${index}] must be a mapping, found ${describe(item)}`);
    return [];
  });
}

function whatIsWrong(list: YamlNode | undefined): string {
  if (list === undefined || (list.kind === 'scalar' && list.value === null)) return 'is missing';
  return list.kind === 'list' ? 'must not be empty' : `must be a list, found ${describe(list)}`;
}

/** A `cwd` of the manifest or of a task; '' is the root of a workspace. */
function workingFolder(map: YamlMap, cwd: string, around: Surroundings, log: ProblemLog): string {
  const path = fromRoot(around.root, cwd);
  const folder = isAbsolute(path) ? path : relativePath(path === cwd ? around.directory : '', path);
  if (folder === '' || isInside(folder)) return folder;
  const message = `cwd ${quote(cwd)} is not below the repository's root: tasks start there instead`;
  log.warning(placeOf(map, ['cwd']), message, "write it relative to the manifest's folder");
  return '';
}

class TaskReader {
  readonly #map: YamlMap;
  readonly #index: number;
  readonly #log: ProblemLog;
  /** How messages name the task. */
  #name: string;

  constructor(map: YamlMap, index: number, log: ProblemLog) {
    this.#map = map;
    this.#index = index;
    this.#log = log;
    this.#name = `tasks[${index}]`;
  }

  read(around: Surroundings, cwd: string): PoTask | null {
    if (!around.dialect.isOld) this.#refuseForbidden();
    const id = this.#readName('id');
    if (id !== null) this.#name = `task ${quote(id)}`;
    const agent = this.#readName('agent') ?? '';
    const isRead = this.#readFlag('read_only');
    const own = around.dialect.isOld ? this.#readFolder(around) : null;
    const writes = this.#readWrites(own ?? around.directory);
    const settings = { ...around.settings, ...this.#readSettings(around.dialect) };
    const folder = own ?? (isRead ? cwd : '');
    const group = this.#readGroup();
    const needs = readTexts(
      this.#listOrNothing('depends_on'),
      this.#label('depends_on'),
      this.#log,
    );
    const retries = readRetries(this.#map, this.#label('max_retries'), this.#log);
    const spec: TaskSpec = {
      id: id ?? '',
      prompt: this.#readPrompt(agent),
      agent: 'claude',
      ...(agent === '' ? {} : { role: agent }),
      ...(settings.model === undefined ? {} : { model: settings.model }),
      mode: isRead ? 'read' : 'write',
      needs: [...new Set(needs)],
      writes: [...new Set(writes.filter(isInside))],
      outside: 'report',
      forbids: [],
      checks: [],
      ...(group === null ? {} : { group }),
      retries: retries ?? around.retries ?? around.dialect.retries,
      ...(around.dialect.isOld ? { retry: retryOf(settings) } : {}),
      timeoutMs: settings.timeoutMs ?? TIMEOUT_MS,
      idleMs: (isRead ? undefined : settings.idleMs) ?? settings.timeoutMs ?? TIMEOUT_MS,
      permissions: isRead ? 'dontAsk' : 'bypassPermissions',
      allowEmpty: true,
      env: { ...this.#readEnv(), ...(isRead ? {} : { [GUARD]: '1' }) },
      ...(folder === '' ? {} : { cwd: folder }),
      options: NO_OPTIONS,
      hears: [],
      answer: 'status-line',
    };
    if (id === null) return null;
    const outline = { index: this.#index, id, needs, writes, ...(group === null ? {} : { group }) };
    return { spec, outline, at: (key, item) => this.#at(key, item) };
  }

  #refuseForbidden(): void {
    for (const key of FORBIDDEN) {
      const entry = entryOf(this.#map, key);
      if (entry === undefined) continue;
      this.#log.error(entry.keyAt, `${this.#name}: ${key} is not allowed in a task`, 'remove it');
    }
  }

  #readSettings({ isOld }: Dialect): TaskSettings {
    return readSettings(this.#map, `${this.#name}: `, isOld, this.#log);
  }

  #readFolder(around: Surroundings): string | null {
    const value = entryOf(this.#map, 'cwd')?.value;
    if (value === undefined) return null;
    const text = expectText(value, this.#label('cwd'), this.#log);
    return text === null ? null : workingFolder(this.#map, text, around, this.#log);
  }

  /** An agent may be empty, an id may not. */
  #readName(key: 'id' | 'agent'): string | null {
    const value = this.#required(key);
    if (value === null) return null;
    const name = expectText(value, this.#label(key), this.#log);
    if (name !== null && !NAME.test(name) && !(key === 'agent' && name === '')) {
      const message = `${this.#label(key)} ${quote(name)} is not allowed`;
      this.#log.error(value.at, message, 'use letters, digits, _ and -');
    }
    return name;
  }

  #readFlag(key: string): boolean {
    const value = this.#required(key);
    if (value === null) return false;
    if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value;
    const message = `${this.#name}: ${key} must be true or false, found ${describe(value)}`;
    this.#log.error(value.at, message);
    return false;
  }

  #readPrompt(agent: string): string {
    const value = entryOf(this.#map, 'prompt')?.value;
    if (value === undefined) return `/agent-${agent}`;
    const text = expectText(value, this.#label('prompt'), this.#log);
    if (text?.includes('\0')) {
      this.#log.error(value.at, `${this.#label('prompt')} must not contain NUL`);
    } else if (text?.trim() === '') {
      this.#log.warning(value.at, `${this.#label('prompt')} is empty`);
    }
    return text ?? '';
  }

  #readEnv(): Record<string, string> {
    const value = entryOf(this.#map, 'env')?.value;
    if (value === undefined) return {};
    if (value.kind !== 'map') {
      this.#log.error(
        value.at,
        `${this.#label('env')} must be a mapping, found ${describe(value)}`,
      );
      return {};
    }
    const env: [string, string][] = [];
    for (const { key, keyAt, value: content } of value.entries.values()) {
      if (typeof key !== 'string' || key === '' || /[=\0]/.test(key)) {
        const message = `${this.#label('env')}: ${quote(String(key))} is not a variable name`;
        this.#log.error(keyAt, message, typeof key === 'string' ? undefined : 'put it in quotes');
      } else if (BLOCKED_ENV.has(key)) {
        this.#log.error(keyAt, `${this.#label('env')}: ${key} must not be set`, 'remove it');
      } else {
        const text = expectText(content, `${this.#label('env')}: ${key}`, this.#log);
        if (text?.includes('\0')) {
          this.#log.error(content.at, `${this.#label('env')}: ${key} must not contain NUL`);
        } else if (text !== null) env.push([key, text]);
      }
    }
    return Object.fromEntries(env);
  }

  /** Relative to the repository's root; a path elsewhere keeps its spelling and is reported. */
  #readWrites(directory: string): readonly string[] {
    const given = readTexts(this.#listOrNothing('writes'), this.#label('writes'), this.#log);
    return given.map((path, item) => {
      if (path === '') return '';
      const target = isAbsolute(path) ? normaliseGlob(path) : relativePath(directory, path) || '**';
      if (!isInside(target)) {
        const what = `${quote(path)} is not below the repository's root`;
        const remedy = "it is ignored; write it relative to the manifest's folder";
        this.#log.warning(this.#at('writes', item), `${this.#label('writes')}: ${what}`, remedy);
      }
      return target;
    });
  }

  #readGroup(): string | null {
    const value = entryOf(this.#map, 'concurrency_group')?.value;
    if (value === undefined) return null;
    const text = textOf(value);
    if (text !== undefined && text.trim() !== '') return text;
    const message = `${this.#label('concurrency_group')} must be text that is not empty`;
    this.#log.error(value.at, `${message}, found ${describe(value)}`);
    return null;
  }

  #required(key: string): YamlNode | null {
    const entry = entryOf(this.#map, key);
    if (entry !== undefined) return entry.value;
    this.#log.error(this.#map.at, `${this.#name}: ${key} is missing`, `add ${key}`);
    return null;
  }

  /** `depends_on:` without a value is an empty list. */
  #listOrNothing(key: 'depends_on' | 'writes') {
    const entry = entryOf(this.#map, key);
    return entry?.value.kind === 'scalar' && entry.value.value === null ? undefined : entry;
  }

  #label(key: string): string {
    return `${this.#name}: ${key}`;
  }

  #at(key: 'id' | 'needs' | 'writes' | 'group', item?: number): Place {
    const own = { id: 'id', needs: 'depends_on', writes: 'writes', group: 'concurrency_group' }[
      key
    ];
    return placeOf(this.#map, item === undefined ? [own] : [own, item]);
  }
}
