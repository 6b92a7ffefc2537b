/** Single values of a manifest or of a task file's front matter. */

import { type Place, type ProblemLog, quote } from '../../problem.ts';
import { describe, entryOf, type YamlEntry, type YamlNode } from '../../yaml-source.ts';

/** A word of a text, and where it stands. */
export interface Word {
  readonly text: string;
  readonly at: Place;
}

/** The text of a key; null where it is not given, nothing, or wrong, which is then in the log. */
export function readWord(map: YamlNode, key: string, log: ProblemLog): Word | null {
  const entry = entryOf(map, key);
  if (entry === undefined || isNothing(entry.value)) return null;
  const { value } = entry;
  if (value.kind === 'scalar' && typeof value.value === 'string') {
    if (value.value.trim() !== '') return { text: value.value.trim(), at: value.at };
    log.error(value.at, `${key} must not be empty`);
    return null;
  }
  log.error(value.at, `${key} must be text, found ${describe(value)}`, 'put it in quotes');
  return null;
}

/** A list of texts; nothing where the key is missing. A single text is a list of one. */
export function readWords(map: YamlNode, key: string, log: ProblemLog): readonly Word[] {
  const entry = entryOf(map, key);
  return entry === undefined ? [] : wordsOf(entry, key, log);
}

/** A whole number of at least one; null where it is not given or wrong. */
export function readCount(map: YamlNode, key: string, log: ProblemLog): number | null {
  const value = entryOf(map, key)?.value;
  if (value === undefined || isNothing(value)) return null;
  const number = value.kind === 'scalar' ? value.value : null;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 1) return number;
  const message = `${key} must be a whole number of at least 1, found ${describe(value)}`;
  log.error(value.at, message);
  return null;
}

/** The beginning of an id that all spellings share: `task-004` of `task-004-ingestion`. */
export function numberOf(id: string): number | null {
  const [, digits] = /^task-0*(\d+)(?:\D|$)/i.exec(id) ?? [];
  return digits === undefined ? null : Number(digits);
}

export type Find<T> = (id: string) => T | null;

/** Finds what an id means: the one that is exactly so called, or the only one with its number. */
export function finderOf<T extends { readonly id: string }>(all: readonly T[]): Find<T> {
  const byId = new Map(all.toReversed().map((one) => [one.id, one]));
  const byNumber = new Map<number, T | null>();
  for (const one of all) {
    const number = numberOf(one.id);
    if (number !== null) byNumber.set(number, byNumber.has(number) ? null : one);
  }
  return (id) => byId.get(id) ?? byNumber.get(numberOf(id) ?? Number.NaN) ?? null;
}

function wordsOf({ value }: YamlEntry, key: string, log: ProblemLog): readonly Word[] {
  if (isNothing(value)) return [];
  if (value.kind === 'scalar' && typeof value.value === 'string') {
    return value.value.trim() === '' ? [] : [{ text: value.value.trim(), at: value.at }];
  }
  if (value.kind !== 'list') {
    log.error(value.at, `${key} must be a list, found ${describe(value)}`);
    return [];
  }
  return value.items.flatMap((item) => {
    const text = item.kind === 'scalar' && typeof item.value === 'string' ? item.value.trim() : '';
    if (text !== '') return [{ text, at: item.at }];
    log.error(item.at, `${key}: an entry must be text, found ${describe(item)}`);
    return [];
  });
}

function isNothing(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** Names in a message. */
export function names(ids: readonly string[]): string {
  return ids.map(quote).join(', ');
}
