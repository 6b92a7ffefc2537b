/**
 * Strict JSON with places, as the tree that YAML gives. Never throws: the first violation of RFC 8259
 * is a problem, and then there is no tree. A duplicate key is a problem too.
 */

import { type Place, type ProblemLog, quote } from '../problem.ts';
import { Refused, type YamlEntry, type YamlNode, type YamlText, type YamlValue } from './yaml.ts';

/** Null, and a problem in the log, if the text is no JSON. */
export function readJson(
  source: Pick<YamlText, 'text' | 'firstLine'>,
  log: ProblemLog,
): YamlNode | null {
  const reader = new JsonReader(source, log);
  try {
    return reader.read();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    log.error(reader.placeAt(error.offset), `not JSON: ${error.message}`);
    return null;
  }
}

const MAX_DEPTH = 100;
/** Bounds the memory that a small text can take. */
const MAX_NODES = 200_000;

class JsonReader {
  readonly #text: string;
  readonly #log: ProblemLog;
  /** Where each line begins. */
  readonly #starts: readonly number[];
  readonly #firstLine: number;
  #offset = 0;
  #depth = 0;
  #nodes = 0;

  constructor({ text, firstLine }: Pick<YamlText, 'text' | 'firstLine'>, log: ProblemLog) {
    this.#text = text;
    this.#log = log;
    this.#firstLine = firstLine;
    this.#starts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), (m) => m.index + m[0].length)];
  }

  read(): YamlNode {
    const root = this.#value();
    this.#blanks();
    if (this.#offset < this.#text.length) {
      throw new Refused(this.#offset, `${this.#here()} after the end of the value`);
    }
    return root;
  }

  placeAt(offset: number): Place {
    let low = 0;
    for (let high = this.#starts.length - 1; low < high; ) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + this.#firstLine, column: offset - this.#starts[low]! + 1 };
  }

  #value(): YamlNode {
    this.#blanks();
    const at = this.placeAt(this.#offset);
    const first = this.#text[this.#offset];
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) throw new Refused(this.#offset, 'too many values');
    if (first === '{' || first === '[') {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH) throw new Refused(this.#offset, 'nested too deeply');
      const node: YamlNode =
        first === '{'
          ? { kind: 'map', at, entries: this.#entries() }
          : { kind: 'list', at, items: this.#items() };
      this.#depth -= 1;
      return node;
    }
    return { kind: 'scalar', at, value: first === '"' ? this.#string() : this.#word() };
  }

  #entries(): ReadonlyMap<YamlValue, YamlEntry> {
    const entries = new Map<YamlValue, YamlEntry>();
    this.#sequence('}', () => {
      const keyAt = this.placeAt(this.#offset);
      if (this.#text[this.#offset] !== '"') throw new Refused(this.#offset, this.#wanted('a key'));
      const key = this.#string();
      this.#blanks();
      if (this.#text[this.#offset] !== ':') throw new Refused(this.#offset, this.#wanted('":"'));
      this.#offset += 1;
      const value = this.#value();
      if (entries.has(key)) {
        this.#log.error(keyAt, `key ${quote(key)} is given twice`, 'keep one of the two');
      }
      entries.set(key, { key, keyAt, value });
    });
    return entries;
  }

  #items(): readonly YamlNode[] {
    const items: YamlNode[] = [];
    this.#sequence(']', () => items.push(this.#value()));
    return items;
  }

  /** Between a bracket and its partner, separated by commas. */
  #sequence(end: string, readOne: () => void): void {
    this.#offset += 1;
    this.#blanks();
    if (this.#text[this.#offset] === end) {
      this.#offset += 1;
      return;
    }
    for (;;) {
      this.#blanks();
      readOne();
      this.#blanks();
      const next = this.#text[this.#offset];
      if (next !== end && next !== ',') {
        throw new Refused(this.#offset, this.#wanted(`"," or "${end}"`));
      }
      this.#offset += 1;
      if (next === end) return;
    }
  }

  #string(): string {
    const start = this.#offset;
    const pattern = /"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\0-\x1f]*)*"/y;
    pattern.lastIndex = start;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined)
      throw new Refused(start, 'this text is not closed or has a bad escape');
    this.#offset += found.length;
    return JSON.parse(found) as string;
  }

  #word(): YamlValue {
    const pattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|(?:true|false|null)\b/y;
    pattern.lastIndex = this.#offset;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw new Refused(this.#offset, this.#wanted('a value'));
    this.#offset += found.length;
    return JSON.parse(found) as YamlValue;
  }

  #blanks(): void {
    const pattern = /[ \t\r\n]*/y;
    pattern.lastIndex = this.#offset;
    this.#offset += pattern.exec(this.#text)?.[0].length ?? 0;
  }

  #wanted(what: string): string {
    return `expected ${what}, found ${this.#here()}`;
  }

  #here(): string {
    const found = this.#text.slice(this.#offset).match(/^(?:\w+|.)/u)?.[0];
    return found === undefined ? 'the end' : quote(found);
  }
}
