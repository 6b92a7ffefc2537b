/** The tasks of a manifest, and single values, which are converted as Python would: `"2"` is an integer. */

import type { RetrySpec, TaskSpec } from '../../../../model/plan.ts';
import { normaliseGlob } from '../../../../model/scope.ts';
import type { TaskOutline } from '../../../lint/validate.ts';
import { type Place, type ProblemLog, quote } from '../../../problem.ts';
import {
  describe,
  entryOf,
  expectMap,
  isNothing,
  mustBe,
  placeOf,
  textOf,
  type YamlMap,
  type YamlNode,
} from '../../../syntax/yaml.ts';
import { FOREIGN_TASK } from '../foreign-plan.ts';
import type { Dialect } from './po-manifest.ts';

interface Surroundings {
  readonly dialect: Dialect;
  readonly cwd: string;
  /** `defaults.max_retries`. */
  readonly retries: number | null;
  readonly settings: TaskSettings;
  /** The manifest's folder relative to the repository's root. */
  readonly directory: string;
  readonly root: string;
}

interface PoTask {
  readonly spec: TaskSpec;
  readonly outline: TaskOutline;
  at(key: 'id' | 'needs' | 'writes' | 'group', item?: number): Place;
}

/** Keys of tasks and defaults that parallel-orchestra itself refuses. */
export const TIME_KEYS = [
  'timeout_sec',
  'idle_timeout_sec',
  'retry_delay_sec',
  'retry_backoff_factor',
] as const;

/** What the manifest calls the parts of an outline. */
const OWN_KEYS = { id: 'id', needs: 'depends_on', writes: 'writes', group: 'concurrency_group' };

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
    const map = expectMap(item, `tasks[${index}]`, log);
    return (map && readTask(map, index, around, cwd, log)) ?? [];
  });
}

function whatIsWrong(list: YamlNode | undefined): string {
  if (list === undefined || isNothing(list)) return 'is missing';
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

/** Null without an id; the rest is still checked. */
function readTask(
  map: YamlMap,
  index: number,
  around: Surroundings,
  cwd: string,
  log: ProblemLog,
): PoTask | null {
  /** How messages name the task. */
  let name = `tasks[${index}]`;

  function refuseForbidden(): void {
    for (const key of FORBIDDEN) {
      const entry = entryOf(map, key);
      if (entry === undefined) continue;
      log.error(entry.keyAt, `${name}: ${key} is not allowed in a task`, 'remove it');
    }
  }

  function readFolder(): string | null {
    const value = entryOf(map, 'cwd')?.value;
    if (value === undefined) return null;
    const text = expectText(value, labelOf('cwd'), log);
    return text === null ? null : workingFolder(map, text, around, log);
  }

  /** An agent may be empty, an id may not. */
  function readName(key: 'id' | 'agent'): string | null {
    const value = required(key);
    if (value === null) return null;
    const name = expectText(value, labelOf(key), log);
    if (name !== null && !NAME.test(name) && !(key === 'agent' && name === '')) {
      const message = `${labelOf(key)} ${quote(name)} is not allowed`;
      log.error(value.at, message, 'use letters, digits, _ and -');
    }
    return name;
  }

  function readFlag(key: string): boolean {
    const value = required(key);
    if (value === null) return false;
    if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value;
    mustBe('true or false', value, labelOf(key), log);
    return false;
  }

  function readPrompt(agent: string): string {
    const value = entryOf(map, 'prompt')?.value;
    if (value === undefined) return `/agent-${agent}`;
    const text = expectText(value, labelOf('prompt'), log);
    if (text?.includes('\0')) {
      log.error(value.at, `${labelOf('prompt')} must not contain NUL`);
    } else if (text?.trim() === '') {
      log.warning(value.at, `${labelOf('prompt')} is empty`);
    }
    return text ?? '';
  }

  function readEnv(): Record<string, string> {
    const value = entryOf(map, 'env')?.value;
    const name = labelOf('env');
    const variables = value && expectMap(value, name, log);
    const env: [string, string][] = [];
    for (const { key, keyAt, value: content } of variables?.entries.values() ?? []) {
      if (typeof key !== 'string' || key === '' || /[=\0]/.test(key)) {
        const message = `${name}: ${quote(String(key))} is not a variable name`;
        log.error(keyAt, message, typeof key === 'string' ? undefined : 'put it in quotes');
      } else if (BLOCKED_ENV.has(key)) {
        log.error(keyAt, `${name}: ${key} must not be set`, 'remove it');
      } else {
        const text = expectText(content, `${name}: ${key}`, log);
        if (text?.includes('\0')) {
          log.error(content.at, `${name}: ${key} must not contain NUL`);
        } else if (text !== null) env.push([key, text]);
      }
    }
    return Object.fromEntries(env);
  }

  /** Relative to the repository's root; a path elsewhere keeps its spelling and is reported. */
  function readWrites(directory: string): readonly string[] {
    return readTexts('writes').map((path, item) => {
      if (path === '') return '';
      const target = isAbsolute(path) ? normaliseGlob(path) : relativePath(directory, path) || '**';
      if (!isInside(target)) {
        const what = `${quote(path)} is not below the repository's root`;
        const remedy = "it is ignored; write it relative to the manifest's folder";
        log.warning(placeIn('writes', item), `${labelOf('writes')}: ${what}`, remedy);
      }
      return target;
    });
  }

  function readGroup(): string | null {
    const value = entryOf(map, 'concurrency_group')?.value;
    if (value === undefined) return null;
    const text = textOf(value);
    if (text !== undefined && text.trim() !== '') return text;
    return mustBe('text that is not empty', value, labelOf('concurrency_group'), log);
  }

  function required(key: string): YamlNode | null {
    const entry = entryOf(map, key);
    if (entry !== undefined) return entry.value;
    log.error(map.at, `${name}: ${key} is missing`, `add ${key}`);
    return null;
  }

  /** '' stands for each entry that is wrong; a key without a value is an empty list. */
  function readTexts(key: 'depends_on' | 'writes'): readonly string[] {
    const value = entryOf(map, key)?.value;
    if (value === undefined || isNothing(value)) return [];
    const label = labelOf(key);
    if (value.kind !== 'list') return mustBe('a list', value, label, log) ?? [];
    return value.items.map((item) => {
      const text = expectText(item, `${label}: an entry`, log);
      if (text?.trim() !== '') return text ?? '';
      log.error(item.at, `${label}: an entry must not be empty`);
      return '';
    });
  }

  function labelOf(key: string): string {
    return `${name}: ${key}`;
  }

  function placeIn(key: keyof typeof OWN_KEYS, item?: number): Place {
    return placeOf(map, item === undefined ? [OWN_KEYS[key]] : [OWN_KEYS[key], item]);
  }

  if (!around.dialect.isOld) refuseForbidden();
  const id = readName('id');
  if (id !== null) name = `task ${quote(id)}`;
  const agent = readName('agent') ?? '';
  const isRead = readFlag('read_only');
  const own = around.dialect.isOld ? readFolder() : null;
  const writes = readWrites(own ?? around.directory);
  const ownSettings = readSettings(map, `${name}: `, around.dialect.isOld, log);
  const settings = { ...around.settings, ...ownSettings };
  const folder = own ?? (isRead ? cwd : '');
  const group = readGroup();
  const needs = readTexts('depends_on');
  const retries = readRetries(map, labelOf('max_retries'), log);
  const spec: TaskSpec = {
    ...FOREIGN_TASK,
    id: id ?? '',
    prompt: readPrompt(agent),
    ...(agent === '' ? {} : { role: agent }),
    ...(settings.model === undefined ? {} : { model: settings.model }),
    mode: isRead ? 'read' : 'write',
    needs: [...new Set(needs)],
    writes: [...new Set(writes.filter(isInside))],
    ...(group === null ? {} : { group }),
    retries: retries ?? around.retries ?? around.dialect.retries,
    ...(around.dialect.isOld ? { retry: retryOf(settings) } : {}),
    timeoutMs: settings.timeoutMs ?? TIMEOUT_MS,
    idleMs: (isRead ? undefined : settings.idleMs) ?? settings.timeoutMs ?? TIMEOUT_MS,
    permissions: isRead ? 'dontAsk' : 'bypassPermissions',
    allowEmpty: true,
    env: { ...readEnv(), ...(isRead ? {} : { [GUARD]: '1' }) },
    ...(folder === '' ? {} : { cwd: folder }),
    answer: 'status-line',
  };
  if (id === null) return null;
  const outline = { index, id, needs, writes, ...(group === null ? {} : { group }) };
  return { spec, outline, at: placeIn };
}

/** Python's `int()`; null where it raises. */
export function toInteger(node: YamlNode): number | null {
  if (node.kind !== 'scalar') return null;
  const { value } = node;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : null;
  if (typeof value !== 'string' || !/^\s*[-+]?\d+(?:_\d+)*\s*$/.test(value)) return null;
  return Number(value.replaceAll('_', ''));
}

/** The text of a node; null, and a problem in the log, if it is none. */
export function expectText(
  node: YamlNode,
  label: string,
  log: ProblemLog,
  remedy = quoteRemedy(node),
): string | null {
  return textOf(node) ?? mustBe('text', node, label, log, remedy);
}

function quoteRemedy(node: YamlNode): string | undefined {
  const isWord = node.kind === 'scalar' && node.value !== null && typeof node.value !== 'string';
  return isWord ? 'put it in quotes' : undefined;
}

/** `max_retries` of a mapping; `name` is for the message. */
export function readRetries(map: YamlMap, name: string, log: ProblemLog): number | null {
  const entry = entryOf(map, 'max_retries');
  if (entry === undefined) return null;
  const retries = toInteger(entry.value);
  if (retries !== null && retries >= 0) return retries;
  return mustBe('an integer of at least 0', entry.value, name, log);
}

/** Keys of the predecessor (times and pauses) and of the successor (models). */
export interface TaskSettings {
  readonly model?: string;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
  readonly delayMs?: number;
  readonly factor?: number;
}

const MODELS = ['haiku', 'sonnet', 'opus'];
/** Timers count in 31 bits of milliseconds. */
const MOST_SECONDS = 24 * 24 * 3600;
const MOST_FACTOR = 100;

/** `name` comes before a key in messages. */
export function readSettings(
  map: YamlMap,
  name: string,
  isOld: boolean,
  log: ProblemLog,
): TaskSettings {
  const number = (key: string, least: number, most: number): number | undefined => {
    const value = entryOf(map, key)?.value;
    if (value === undefined) return undefined;
    const found = value.kind === 'scalar' && typeof value.value === 'number' ? value.value : null;
    if (found !== null && found >= least && found <= most) return found;
    mustBe(`a number from ${least} to ${most}`, value, `${name}${key}`, log);
    return undefined;
  };
  const milliseconds = (key: string, least: number): number | undefined => {
    const seconds = number(key, least, MOST_SECONDS);
    return seconds === undefined ? undefined : Math.round(seconds * 1000);
  };
  const times = isOld
    ? {
        timeoutMs: milliseconds('timeout_sec', 1),
        idleMs: milliseconds('idle_timeout_sec', 1),
        delayMs: milliseconds('retry_delay_sec', 0),
        factor: number('retry_backoff_factor', 1, MOST_FACTOR),
      }
    : {};
  const settings = { model: readModel(map, name, log), ...times };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as TaskSettings;
}

/** The predecessor pauses only on request, and always for the same time. */
export function retryOf({ delayMs = 0, factor = 1 }: TaskSettings): RetrySpec {
  return { pauseMs: delayMs, factor, session: 'resumed', afterTimeout: false };
}

function readModel(map: YamlMap, name: string, log: ProblemLog): string | undefined {
  const entry = entryOf(map, 'model');
  if (entry === undefined) return undefined;
  if (isModel(entry.value)) return entry.value.value;
  const known = MODELS.map(quote).join(', ');
  log.warning(entry.keyAt, `${name}model is ignored`, `known models are ${known}`);
  return undefined;
}

export function isModel(node: YamlNode): node is YamlNode & { kind: 'scalar'; value: string } {
  return node.kind === 'scalar' && MODELS.some((model) => model === node.value);
}

/** On any system. */
export function isAbsolute(path: string): boolean {
  return /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path);
}

export function isInside(target: string): boolean {
  return target !== '' && !isAbsolute(target) && target !== '..' && !target.startsWith('../');
}

/** A path below a folder as one from the repository's root; '' is the root. */
export function relativePath(directory: string, path: string): string {
  const joined = [directory, path].filter((part) => part !== '').join('/');
  const normal = normaliseGlob(joined);
  return normal === '**' && !joined.includes('*') ? '' : normal;
}

/** An absolute path below the root becomes one from the root. */
export function fromRoot(root: string, path: string): string {
  const base = root.replace(/\/+$/, '');
  if (path.replace(/\/+$/, '') === base) return '';
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1) : path;
}
