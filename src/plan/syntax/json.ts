/**
 * Strict JSON with places, as the tree that YAML gives. Never throws: the first violation of RFC 8259
 * is a problem, and then there is no tree. A duplicate key is a problem too.
 */

import { type Place, type ProblemLog, quote } from '../problem.ts';
import { Refused, type YamlEntry, type YamlNode, type YamlText, type YamlValue } from './yaml.ts';

const MAX_DEPTH = 100;
/** Bounds the memory that a small text can take. */
const MAX_NODES = 200_000;

const STRING = /"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\0-\x1f]*)*"/y;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|(?:true|false|null)\b/y;
const BLANKS = /[ \t\r\n]*/y;

/** Null, and a problem in the log, if the text is no JSON. */
export function readJson(
  { text, firstLine }: Pick<YamlText, 'text' | 'firstLine'>,
  log: ProblemLog,
): YamlNode | null {
  const lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), (m) => m.index + m[0].length)];
  let offset = 0;
  let depth = 0;
  let nodes = 0;

  function placeAt(position: number): Place {
    let low = 0;
    for (let high = lineStarts.length - 1; low < high; ) {
      const middle = Math.ceil((low + high) / 2);
      if (lineStarts[middle]! <= position) low = middle;
      else high = middle - 1;
    }
    return { line: low + firstLine, column: position - lineStarts[low]! + 1 };
  }

  /** What the pattern matches here, and steps over it. */
  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = offset;
    const [found] = pattern.exec(text) ?? [];
    offset += found?.length ?? 0;
    return found;
  }

  function here(): string {
    const found = text.slice(offset).match(/^(?:\w+|.)/u)?.[0];
    return found === undefined ? 'the end' : quote(found);
  }

  function expected(what: string): Refused {
    return new Refused(offset, `expected ${what}, found ${here()}`);
  }

  function value(): YamlNode {
    take(BLANKS);
    const at = placeAt(offset);
    const first = text[offset];
    nodes += 1;
    if (nodes > MAX_NODES) throw new Refused(offset, 'too many values');
    if (first !== '{' && first !== '[') {
      return { kind: 'scalar', at, value: first === '"' ? string() : word() };
    }
    depth += 1;
    if (depth > MAX_DEPTH) throw new Refused(offset, 'nested too deeply');
    const node: YamlNode =
      first === '{'
        ? { kind: 'map', at, entries: entries() }
        : { kind: 'list', at, items: items() };
    depth -= 1;
    return node;
  }

  function entries(): ReadonlyMap<YamlValue, YamlEntry> {
    const found = new Map<YamlValue, YamlEntry>();
    sequence('}', () => {
      const keyAt = placeAt(offset);
      if (text[offset] !== '"') throw expected('a key');
      const key = string();
      take(BLANKS);
      if (text[offset] !== ':') throw expected('":"');
      offset += 1;
      const content = value();
      if (found.has(key))
        log.error(keyAt, `key ${quote(key)} is given twice`, 'keep one of the two');
      found.set(key, { key, keyAt, value: content });
    });
    return found;
  }

  function items(): readonly YamlNode[] {
    const found: YamlNode[] = [];
    sequence(']', () => found.push(value()));
    return found;
  }

  /** Between a bracket and its partner, separated by commas. */
  function sequence(end: string, readOne: () => void): void {
    offset += 1;
    take(BLANKS);
    if (text[offset] === end) {
      offset += 1;
      return;
    }
    for (;;) {
      take(BLANKS);
      readOne();
      take(BLANKS);
      const next = text[offset];
      if (next !== end && next !== ',') throw expected(`"," or "${end}"`);
      offset += 1;
      if (next === end) return;
    }
  }

  function string(): string {
    const found = take(STRING);
    if (found !== undefined) return JSON.parse(found) as string;
    throw new Refused(offset, 'this text is not closed or has a bad escape');
  }

  function word(): YamlValue {
    const found = take(WORD);
    if (found === undefined) throw expected('a value');
    return JSON.parse(found) as YamlValue;
  }

  try {
    const root = value();
    take(BLANKS);
    if (offset === text.length) return root;
    throw new Refused(offset, `${here()} after the end of the value`);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    log.error(placeAt(error.offset), `not JSON: ${error.message}`);
    return null;
  }
}
