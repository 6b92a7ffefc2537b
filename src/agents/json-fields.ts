/**
 * Reads the JSON of other programs, line by line, without ever failing.
 *
 *   J1. A field of the wrong type reads as if it were absent: an agent's next version must not
 *       break an attempt.
 *   J2. Nothing here recurses as deep as its input.
 */

import { rethrowBug } from '../base/errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The object on this line, or null where there is none: half a line, prose, a bare number. */
export function parseFields(line: string): Fields | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    return fieldsOf(JSON.parse(line));
  } catch (error) {
    rethrowBug(error);
    return null;
  }
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** A copy small enough to store: long strings and lists are cut, deep branches become `…`. */
export function bounded(value: unknown, depth = 6): unknown {
  if (typeof value === 'string') return clip(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (Array.isArray(value))
    return value.slice(0, MAX_ITEMS).map((item) => bounded(item, depth - 1));
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(entries.map(([key, item]) => [clip(key), bounded(item, depth - 1)]));
}

/** The beginning of a text that may be megabytes long. */
export function clip(text: string, length = MAX_TEXT): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

const MAX_TEXT = 4000;
const MAX_ITEMS = 100;
