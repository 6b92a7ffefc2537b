/** The values of one JSON object, each read with its type checked and named in the message. */

import { type Place, type ProblemLog, quote } from '../../problem.ts';
import { closest } from '../../suggest.ts';
import { describe, entryOf, type YamlMap, type YamlNode } from '../../yaml-source.ts';

/** An entry of a list, with its place. */
export interface Placed<T> {
  readonly value: T;
  readonly at: Place;
}

export class Fields {
  readonly at: Place;
  readonly #map: YamlMap;
  /** How messages name the object; '' is the manifest itself. */
  readonly #name: string;
  readonly #log: ProblemLog;

  constructor(map: YamlMap, name: string, log: ProblemLog) {
    this.#map = map;
    this.at = map.at;
    this.#name = name;
    this.#log = log;
  }

  /** The value; undefined where there is none, or `null`. */
  node(key: string): YamlNode | undefined {
    const value = entryOf(this.#map, key)?.value;
    return value?.kind === 'scalar' && value.value === null ? undefined : value;
  }

  placeOf(key: string): Place {
    return this.node(key)?.at ?? this.at;
  }

  /** Text without NUL; undefined where it is not given or wrong. */
  text(key: string): string | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    const value = node.kind === 'scalar' ? node.value : null;
    if (typeof value !== 'string') return this.#wrong(node, key, 'text');
    if (!value.includes('\0')) return value;
    this.#log.error(node.at, `${this.label(key)} must not contain NUL`);
    return undefined;
  }

  flag(key: string): boolean {
    const node = this.node(key);
    if (node === undefined) return false;
    const value = node.kind === 'scalar' ? node.value : null;
    if (typeof value === 'boolean') return value;
    this.#wrong(node, key, 'true or false');
    return false;
  }

  /** An id: a whole number, or text that is not blank; as text. */
  id(key: string): string | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    return idOf(node) ?? this.#wrong(node, key, 'a whole number or text');
  }

  /** A list of texts that are not blank. */
  texts(key: string): readonly Placed<string>[] {
    return this.#list(key, 'a list of texts', (node) => {
      const value = node.kind === 'scalar' ? node.value : null;
      return typeof value === 'string' && value.trim() !== '' ? value : null;
    });
  }

  /** A list of ids. */
  ids(key: string): readonly Placed<string>[] {
    return this.#list(key, 'a list of batch ids', idOf);
  }

  /** A list of objects. */
  maps(key: string): readonly YamlMap[] {
    const entries = this.#list(key, 'a list of objects', (node) =>
      node.kind === 'map' ? node : null,
    );
    return entries.map(({ value }) => value);
  }

  /** Warns of every key that is not among these. */
  expectOnly(known: readonly string[]): void {
    for (const { key, keyAt } of this.#map.entries.values()) {
      if (known.includes(String(key))) continue;
      const guess = this.#log.isFull ? null : closest(String(key), known);
      const remedy = guess === null ? `known keys: ${known.join(', ')}` : `did you mean ${guess}?`;
      this.#log.warning(keyAt, `${this.label(quote(String(key)))} is not known, ignored`, remedy);
    }
  }

  /** How messages name a value of the object. */
  label(key: string): string {
    return this.#name === '' ? key : `${this.#name}: ${key}`;
  }

  #list<T>(key: string, what: string, read: (node: YamlNode) => T | null): readonly Placed<T>[] {
    const node = this.node(key);
    if (node === undefined) return [];
    if (node.kind !== 'list') {
      this.#wrong(node, key, what);
      return [];
    }
    return node.items.flatMap((item) => {
      const value = read(item);
      if (value !== null) return { value, at: item.at };
      this.#wrong(item, key, what);
      return [];
    });
  }

  #wrong(node: YamlNode, key: string, expected: string): undefined {
    const message = `${this.label(key)} must be ${expected}, found ${describe(node)}`;
    this.#log.error(node.at, message);
  }
}

function idOf(node: YamlNode): string | null {
  const value = node.kind === 'scalar' ? node.value : null;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
