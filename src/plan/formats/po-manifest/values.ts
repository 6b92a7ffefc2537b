/** Single values of a manifest, converted as Python would: `"2"`, `2.9` and `true` are integers. */

import { type ProblemLog, quote } from '../../problem.ts';
import {
  describe,
  entryOf,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '../../yaml-source.ts';

const MAX_GROUP_LIMIT = 256;

/** What Python's `int()` makes of a value; null where it would refuse. */
export function toInteger(node: YamlNode): number | null {
  if (node.kind !== 'scalar') return null;
  const { value } = node;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : null;
  if (typeof value !== 'string' || !/^\s*[-+]?\d+(?:_\d+)*\s*$/.test(value)) return null;
  return Number(value.replaceAll('_', ''));
}

/** A key that must be there and hold text. */
export function readText(map: YamlMap, key: string, log: ProblemLog): string | null {
  const entry = entryOf(map, key);
  if (entry === undefined) {
    log.error(map.at, `${key} is missing`, `add ${key}`);
    return null;
  }
  const { value } = entry;
  if (value.kind === 'scalar' && typeof value.value === 'string') return value.value;
  log.error(value.at, `${key} must be text, found ${describe(value)}`, quoteRemedy(value));
  return null;
}

/** `max_retries` of a mapping; null where it is not given or wrong. `name` is for the message. */
export function readRetries(map: YamlMap, name: string, log: ProblemLog): number | null {
  const entry = entryOf(map, 'max_retries');
  if (entry === undefined) return null;
  const retries = toInteger(entry.value);
  if (retries !== null && retries >= 0) return retries;
  const found = describe(entry.value);
  log.error(entry.value.at, `${name} must be an integer of at least 0, found ${found}`);
  return null;
}

/** A list of texts that are not empty; '' stands for each entry that is wrong. */
export function readTexts(entry: YamlEntry | undefined, name: string, log: ProblemLog): string[] {
  if (entry === undefined) return [];
  const { value } = entry;
  if (value.kind !== 'list') {
    log.error(value.at, `${name} must be a list, found ${describe(value)}`);
    return [];
  }
  return value.items.map((item) => {
    const text = item.kind === 'scalar' && typeof item.value === 'string' ? item.value : null;
    if (text === null) {
      const message = `${name}: an entry must be text, found ${describe(item)}`;
      log.error(item.at, message, quoteRemedy(item));
    } else if (text.trim() === '') log.error(item.at, `${name}: an entry must not be empty`);
    return text?.trim() === '' ? '' : (text ?? '');
  });
}

/** The limits of groups; null where the section is wrong or missing, which is then in the log. */
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

/** What to do about something that YAML did not take for text. */
export function quoteRemedy(node: YamlNode): string | undefined {
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
