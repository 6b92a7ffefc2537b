/** Single values of a manifest, converted as Python would: `"2"`, `2.9` and `true` are integers. */

import type { RetrySpec } from '../../../../model/plan.ts';
import { normaliseGlob } from '../../../../model/scope.ts';
import { type ProblemLog, quote } from '../../../problem.ts';
import {
  describe,
  entryOf,
  textOf,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '../../../syntax/yaml.ts';

const MAX_GROUP_LIMIT = 256;

/** Python's `int()`; null where it raises. */
export function toInteger(node: YamlNode): number | null {
  if (node.kind !== 'scalar') return null;
  const { value } = node;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : null;
  if (typeof value !== 'string' || !/^\s*[-+]?\d+(?:_\d+)*\s*$/.test(value)) return null;
  return Number(value.replaceAll('_', ''));
}

export function readText(map: YamlMap, key: string, log: ProblemLog): string | null {
  const entry = entryOf(map, key);
  if (entry === undefined) {
    log.error(map.at, `${key} is missing`, `add ${key}`);
    return null;
  }
  return expectText(entry.value, key, log);
}

/** The text of a node; null, and a problem in the log, if it is none. */
export function expectText(
  node: YamlNode,
  label: string,
  log: ProblemLog,
  remedy = quoteRemedy(node),
): string | null {
  const text = textOf(node);
  if (text !== undefined) return text;
  log.error(node.at, `${label} must be text, found ${describe(node)}`, remedy);
  return null;
}

/** `max_retries` of a mapping; `name` is for the message. */
export function readRetries(map: YamlMap, name: string, log: ProblemLog): number | null {
  const entry = entryOf(map, 'max_retries');
  if (entry === undefined) return null;
  const retries = toInteger(entry.value);
  if (retries !== null && retries >= 0) return retries;
  const found = describe(entry.value);
  log.error(entry.value.at, `${name} must be an integer of at least 0, found ${found}`);
  return null;
}

/** '' stands for each entry that is wrong. */
export function readTexts(entry: YamlEntry | undefined, name: string, log: ProblemLog): string[] {
  if (entry === undefined) return [];
  const { value } = entry;
  if (value.kind !== 'list') {
    log.error(value.at, `${name} must be a list, found ${describe(value)}`);
    return [];
  }
  return value.items.map((item) => {
    const text = expectText(item, `${name}: an entry`, log);
    if (text?.trim() !== '') return text ?? '';
    log.error(item.at, `${name}: an entry must not be empty`);
    return '';
  });
}

/** Null, and a problem in the log, if the section is wrong, or missing but needed. */
export function readGroupLimits(
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
  if (section.value.kind !== 'map') {
    const found = describe(section.value);
    log.error(section.value.at, `concurrency_limits must be a mapping, found ${found}`);
    return null;
  }
  const limits = new Map<string, number>();
  for (const entry of section.value.entries.values()) {
    const { key, keyAt } = entry;
    if (typeof key !== 'string' || key === '') {
      log.error(keyAt, 'concurrency_limits: a group must be text that is not empty');
      continue;
    }
    limits.set(key, readLimit(entry, key, log));
    if (!used.has(key)) log.warning(keyAt, `concurrency_limits: no task is in group ${quote(key)}`);
  }
  return Object.fromEntries(limits);
}

function quoteRemedy(node: YamlNode): string | undefined {
  const isWord = node.kind === 'scalar' && node.value !== null && typeof node.value !== 'string';
  return isWord ? 'put it in quotes' : undefined;
}

function readLimit({ value }: YamlEntry, group: string, log: ProblemLog): number {
  const limit = toInteger(value);
  if (limit !== null && limit >= 1 && limit <= MAX_GROUP_LIMIT) return limit;
  const range = `an integer from 1 to ${MAX_GROUP_LIMIT}`;
  const found = describe(value);
  log.error(value.at, `concurrency_limits: ${quote(group)} must be ${range}, found ${found}`);
  return 1;
}

function isNothing(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** Keys of the predecessor (times and pauses) and of the successor (models). */
export interface TaskSettings {
  readonly model?: string;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
  readonly delayMs?: number;
  readonly factor?: number;
}

/** Keys of tasks and defaults that parallel-orchestra itself refuses. */
export const TIME_KEYS = [
  'timeout_sec',
  'idle_timeout_sec',
  'retry_delay_sec',
  'retry_backoff_factor',
] as const;

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
  const seconds = (key: string, least: number): number | undefined => {
    const value = readNumber(map, { key, name, least, most: MOST_SECONDS }, log);
    return value === undefined ? undefined : Math.round(value * 1000);
  };
  const factor = { key: 'retry_backoff_factor', name, least: 1, most: MOST_FACTOR };
  const times = isOld
    ? {
        timeoutMs: seconds('timeout_sec', 1),
        idleMs: seconds('idle_timeout_sec', 1),
        delayMs: seconds('retry_delay_sec', 0),
        factor: readNumber(map, factor, log),
      }
    : {};
  const settings = { model: readModel(map, name, log), ...times };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as TaskSettings;
}

/** Warns once that models, which parallel-orchestra itself ignores, take effect. */
export function noteModels(root: YamlMap, log: ProblemLog): void {
  const tasks = entryOf(root, 'tasks')?.value;
  const maps = [entryOf(root, 'defaults')?.value, ...(tasks?.kind === 'list' ? tasks.items : [])];
  const known = maps
    .map((map) => entryOf(map, 'model'))
    .find((entry) => entry !== undefined && isModel(entry.value));
  if (known === undefined) return;
  log.warning(known.keyAt, "model is a key of parallel-orchestra's successor: it takes effect");
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

function isModel(node: YamlNode): node is YamlNode & { kind: 'scalar'; value: string } {
  return node.kind === 'scalar' && MODELS.some((model) => model === node.value);
}

function readNumber(
  map: YamlMap,
  bounds: {
    readonly key: string;
    readonly name: string;
    readonly least: number;
    readonly most: number;
  },
  log: ProblemLog,
): number | undefined {
  const entry = entryOf(map, bounds.key);
  if (entry === undefined) return undefined;
  const { value } = entry;
  const number = value.kind === 'scalar' && typeof value.value === 'number' ? value.value : null;
  if (number !== null && number >= bounds.least && number <= bounds.most) return number;
  const range = `a number from ${bounds.least} to ${bounds.most}`;
  log.error(value.at, `${bounds.name}${bounds.key} must be ${range}, found ${describe(value)}`);
  return undefined;
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
