/**
 * YAML with places: every value knows its line and column. Never throws: syntax errors are problems,
 * and then there is no tree. Aliases and merge keys (`<<`) are resolved. Tokens, depth and the values
 * that aliases unfold to are bounded, which the library does not do.
 */

import {
  Composer,
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  type ScalarTag,
  YAMLParseError,
} from 'yaml';
import { assert } from '../../base/assert.ts';
import { messageOf, rethrowBug, UserError } from '../../base/errors.ts';
import { type Place, type ProblemLog, quote } from '../problem.ts';

export type YamlNode = YamlMap | YamlList | YamlScalar;

export interface YamlMap {
  readonly kind: 'map';
  readonly at: Place;
  /** A key is text, or what YAML made of it. */
  readonly entries: ReadonlyMap<YamlValue, YamlEntry>;
}

export interface YamlEntry {
  readonly key: YamlValue;
  readonly keyAt: Place;
  readonly value: YamlNode;
}

export interface YamlList {
  readonly kind: 'list';
  readonly at: Place;
  readonly items: readonly YamlNode[];
}

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly at: Place;
  readonly value: YamlValue;
}

/** A date or a time, kept as written: no key of a plan takes one. */
interface YamlDate {
  readonly date: string;
}

export type YamlValue = string | number | bigint | boolean | null | YamlDate;

export interface YamlText {
  readonly text: string;
  /** The line of the file on which the text begins. */
  readonly firstLine: number;
  /** 1.2 refuses a key that is given twice; 1.1, read as PyYAML does, lets the last one win. */
  readonly version: '1.1' | '1.2';
}

/** Null, and a problem in the log, if the text is not YAML. */
export function readYaml(source: YamlText, log: ProblemLog): YamlNode | null {
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1) + source.firstLine - 1, column: Math.max(col, 1) };
  };
  try {
    const document = parse(source, lines);
    if (reportSyntax(document, placeAt, log)) return null;
    return treeOf(document, source.version, placeAt, log);
  } catch (error) {
    rethrowBug(error);
    const at = error instanceof Refused ? placeAt(error.offset) : placeAt(0);
    log.error(at, error instanceof Refused ? error.message : `not YAML: ${messageOf(error)}`);
    return null;
  }
}

export function entryOf(node: YamlNode | undefined, key: string): YamlEntry | undefined {
  return node?.kind === 'map' ? node.entries.get(key) : undefined;
}

/** Empty if the node is no list. */
export function itemsOf(node: YamlNode | undefined): readonly YamlNode[] {
  return node?.kind === 'list' ? node.items : [];
}

export function textOf(node: YamlNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

/** The texts of a list; '' stands for an item that is no text, to keep the indices. */
export function textsOf(node: YamlNode | undefined): readonly string[] {
  return itemsOf(node).map((item) => textOf(item) ?? '');
}

/** Whether a key stands there without a value. */
export function isNothing(node: YamlNode | undefined): boolean {
  return node?.kind === 'scalar' && node.value === null;
}

/** Logs that a value is not what its key takes. */
export function mustBe(
  expected: string,
  node: YamlNode,
  label: string,
  log: ProblemLog,
  remedy?: string,
): null {
  log.error(node.at, `${label} must be ${expected}, found ${describe(node)}`, remedy);
  return null;
}

/** Null, and a problem in the log, if it is no mapping. */
export function expectMap(
  node: YamlNode,
  label: string,
  log: ProblemLog,
  { remedy, called = 'a mapping' }: { readonly remedy?: string; readonly called?: string } = {},
): YamlMap | null {
  return node.kind === 'map' ? node : mustBe(called, node, label, log, remedy);
}

/** The value as plain data: mappings become objects with text keys. */
export function plainValue(node: YamlNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(plainValue);
    case 'map':
      return Object.fromEntries(
        [...node.entries.values()].map(({ key, value }) => [keyText(key), plainValue(value)]),
      );
  }
}

export function nodeAt(root: YamlNode, path: readonly PropertyKey[]): YamlNode | undefined {
  let node: YamlNode | undefined = root;
  for (const step of path) node = node === undefined ? undefined : childOf(node, step)?.value;
  return node;
}

/** The place of the value at a path, or of its key; if missing, that of its surroundings. */
export function placeOf(
  root: YamlNode,
  path: readonly PropertyKey[],
  what: 'key' | 'value' = 'value',
): Place {
  let node = root;
  let place = root.at;
  for (const step of path) {
    const child = childOf(node, step);
    if (child === undefined) return node.at;
    place = what === 'key' ? child.keyAt : child.value.at;
    node = child.value;
  }
  return place;
}

/** A value as a message names it. */
export function describe(node: YamlNode): string {
  if (node.kind === 'map') return 'a mapping';
  if (node.kind === 'list') return node.items.length === 0 ? 'an empty list' : 'a list';
  const { value } = node;
  if (value === null) return 'nothing';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'boolean') return `${value} (a boolean)`;
  return typeof value === 'object' ? `${value.date} (a date)` : `${value} (a number)`;
}

function childOf(node: YamlNode, step: PropertyKey): Omit<YamlEntry, 'key'> | undefined {
  if (node.kind === 'map') {
    const byText = () => [...node.entries.values()].find(({ key }) => keyText(key) === step);
    return node.entries.get(step as YamlValue) ?? byText();
  }
  const item = node.kind === 'list' ? node.items[Number(step)] : undefined;
  return item && { keyAt: item.at, value: item };
}

function keyText(key: YamlValue): string {
  return key !== null && typeof key === 'object' ? key.date : String(key);
}

/** The library's `parseDocument`, with bounds. */
function parse(source: YamlText, lines: LineCounter): Document.Parsed {
  const composer = new Composer(optionsOf(source.version));
  let first: Document.Parsed | null = null;
  for (const document of composer.compose(tokensOf(source.text, lines), true, source.text.length)) {
    if (first !== null) {
      const [start, end] = document.range;
      first.errors.push(new YAMLParseError([start, end], 'MULTIPLE_DOCS', MANY_DOCUMENTS));
      break;
    }
    first = document;
  }
  assert(first !== null, 'the library makes a document of every text');
  return first;
}

const MANY_DOCUMENTS = 'Source contains multiple documents; please use YAML.parseAllDocuments()';

function optionsOf(version: YamlText['version']) {
  const common = {
    version,
    uniqueKeys: false, // Ours: the library's check takes the square of the number of keys.
  } as const;
  if (version === '1.2') return common;
  const dialect = { schema: 'failsafe', customTags: YAML_1_1_TAGS, resolveKnownTags: false };
  return { ...common, ...dialect };
}

/** Throws once the text exceeds a bound. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let [offset, signs, depth] = [0, 0, 0];
  for (const sign of new Lexer().lex(text)) {
    signs += 1;
    if (signs > MAX_SIGNS) throw new Refused(offset, 'too large: too many lines and values');
    if (sign === '[' || sign === '{') depth += 1;
    else if (sign === ']' || sign === '}') depth -= 1;
    if (depth >= MAX_DEPTH) throw new Refused(offset, 'not YAML: nested too deeply');
    if (!INVISIBLE.has(sign)) offset += sign.length;
    yield* parser.next(sign);
  }
  yield* parser.end();
}

/** Tokens that the lexer adds: the start of a document or scalar, the end of a flow. */
const INVISIBLE: ReadonlySet<string> = new Set([CST.DOCUMENT, CST.SCALAR, CST.FLOW_END]);

const MAX_SYNTAX_PROBLEMS = 5;

function reportSyntax(
  document: Document.Parsed,
  placeAt: (offset: number) => Place,
  log: ProblemLog,
): boolean {
  const found = [...document.errors, ...document.warnings];
  const tooDeep = found.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
  if (tooDeep !== undefined) {
    log.error(placeAt(tooDeep.pos[0]), 'not YAML: nested too deeply');
    return true;
  }
  for (const { pos, message } of found.slice(0, MAX_SYNTAX_PROBLEMS)) {
    log.error(placeAt(pos[0]), `not YAML: ${message}`);
  }
  return found.length > 0;
}

const MAX_NODES = 500_000;
/** Tens of thousands of lines, with prompts. */
const MAX_SIGNS = 250_000;
const MAX_DEPTH = 100;

/** Ends the reading of a document; `readYaml` and `readJson` catch it. */
export class Refused extends UserError {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Converts the library's nodes in the order of the text, so that anchors come before their use. */
function treeOf(
  document: Document.Parsed,
  version: YamlText['version'],
  placeAt: (offset: number) => Place,
  log: ProblemLog,
): YamlNode {
  const anchors = new Map<string, YamlNode | 'open'>();
  /** How many values a node unfolds to. */
  const sizes = new WeakMap<YamlNode, number>();
  let depth = 0;

  function build(node: unknown, offset: number): YamlNode {
    if (isAlias(node)) return alias(node.source, node.range?.[0] ?? offset);
    const start = rangeOf(node)?.[0] ?? offset;
    const anchor = (node as { anchor?: string } | null)?.anchor;
    if (anchor !== undefined) anchors.set(anchor, 'open');
    depth += 1;
    if (depth > MAX_DEPTH) throw new Refused(start, 'not YAML: nested too deeply');
    const built = fresh(node, start);
    depth -= 1;
    if (built.kind !== 'scalar') measure(built, start);
    if (anchor !== undefined) anchors.set(anchor, built);
    return built;
  }

  function alias(name: string, offset: number): YamlNode {
    const target = anchors.get(name);
    if (target === undefined) throw new Refused(offset, `not YAML: no anchor &${name} before this`);
    if (target === 'open') throw new Refused(offset, `not YAML: *${name} contains itself`);
    return target;
  }

  function fresh(node: unknown, start: number): YamlNode {
    const at = placeAt(start);
    if (isMap(node)) return { kind: 'map', at, entries: entries(node.items, start) };
    if (isSeq(node)) {
      return { kind: 'list', at, items: node.items.map((item) => build(item, start)) };
    }
    const value = isScalar(node) ? (node.value as YamlValue | undefined) : null;
    return { kind: 'scalar', at, value: value ?? null };
  }

  function entries(
    pairs: readonly { key: unknown; value: unknown }[],
    start: number,
  ): YamlMap['entries'] {
    const own = new Map<YamlValue, YamlEntry>();
    const merged = new Map<YamlValue, YamlEntry>();
    for (const { key, value } of pairs) {
      const keyStart = rangeOf(key)?.[0] ?? start;
      const name = build(key, keyStart);
      if (name.kind !== 'scalar') throw new Refused(keyStart, 'not YAML: a key must be one word');
      const isEmpty = rangeOf(value)?.[0] === rangeOf(value)?.[1];
      const built = build(value, keyStart);
      if (isMergeKey(key)) {
        for (const entry of merge(built, keyStart)) merged.set(entry.key, entry);
        continue;
      }
      if (own.has(name.value) && version === '1.2') {
        log.error(name.at, `key ${describe(name)} is given twice`, 'keep one of the two');
      }
      // A missing value is shown at its key.
      const shown = isEmpty && built.kind === 'scalar' ? { ...built, at: name.at } : built;
      own.set(name.value, { key: name.value, keyAt: name.at, value: shown });
    }
    return merged.size === 0 ? own : new Map([...merged, ...own]);
  }

  /** Of several mappings the first one wins. */
  function merge(source: YamlNode, offset: number): readonly YamlEntry[] {
    const maps = source.kind === 'list' ? source.items.toReversed() : [source];
    return maps.flatMap((map) => {
      if (map.kind === 'map') return [...map.entries.values()];
      throw new Refused(offset, 'not YAML: << takes a mapping or a list of mappings');
    });
  }

  function measure(node: YamlMap | YamlList, start: number): void {
    let size = 1;
    const add = (part: YamlNode): void => {
      size += sizes.get(part) ?? 1;
    };
    if (node.kind === 'list') for (const item of node.items) add(item);
    else for (const { value } of node.entries.values()) add(value);
    if (size > MAX_NODES)
      throw new Refused(start, 'too large: its aliases unfold to too many values');
    sizes.set(node, size);
  }

  return build(document.contents, 0);
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<';
}

function rangeOf(node: unknown): readonly number[] | null | undefined {
  return (node as { range?: readonly number[] | null } | null)?.range;
}

/*
 * Plain scalars as PyYAML's safe loader reads them, which is YAML 1.1 with edges of its own:
 * `yes` and `off` are booleans but `y` is text, `010` is eight, `1:30` is ninety, `1e3` is text.
 */

const FLOATS = [
  /^[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?$/,
  /^\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?$/,
  /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/,
  /^[-+]?\.(?:inf|Inf|INF)$/,
  /^\.(?:nan|NaN|NAN)$/,
];

const TIMESTAMP = new RegExp(
  '^\\d{4}-(?:\\d\\d-\\d\\d|\\d\\d?-\\d\\d?(?:[Tt]|[ \\t]+)\\d\\d?:\\d\\d:\\d\\d(?:\\.\\d*)?' +
    '(?:[ \\t]*(?:Z|[-+]\\d\\d?(?::\\d\\d)?))?)$',
);

function scalarTag(name: string, test: RegExp, resolve: ScalarTag['resolve']): ScalarTag {
  return { tag: `tag:yaml.org,2002:${name}`, default: true, test, resolve };
}

/** To be used on top of the failsafe schema, which knows text, lists and mappings. */
const YAML_1_1_TAGS = [
  scalarTag('null', /^(?:~|null|Null|NULL|)$/, () => null),
  scalarTag(
    'bool',
    /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
    (text) => /^(?:yes|true|on)$/i.test(text),
  ),
  scalarTag(
    'int',
    /^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$/,
    toInteger,
  ),
  scalarTag('float', new RegExp(FLOATS.map(({ source }) => source).join('|')), toFloat),
  scalarTag('timestamp', TIMESTAMP, toDate),
];

function toInteger(text: string): number {
  const { sign, bare } = signed(text);
  if (bare.includes(':')) return sign * sexagesimal(bare);
  if (/^0[bx]/.test(bare)) return sign * Number(bare);
  return sign * Number.parseInt(bare, bare.startsWith('0') ? 8 : 10);
}

function toFloat(text: string): number {
  const { sign, bare } = signed(text.toLowerCase());
  if (bare === '.inf') return sign * Number.POSITIVE_INFINITY;
  if (bare === '.nan') return Number.NaN;
  return sign * (bare.includes(':') ? sexagesimal(bare) : Number.parseFloat(bare));
}

function signed(text: string): { readonly sign: 1 | -1; readonly bare: string } {
  const digits = text.replace(/[_+]/g, '');
  return { sign: digits.startsWith('-') ? -1 : 1, bare: digits.replace(/^-/, '') };
}

/** `1:30` is 90. */
function sexagesimal(text: string): number {
  return text.split(':').reduce((sum, part) => sum * 60 + Number.parseFloat(part), 0);
}

function toDate(text: string, onError: (message: string) => void): YamlDate {
  const [year = 0, month = 0, day = 0] = text.split(/[^0-9]+/).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) {
    onError(`${text} is not a valid date; put it in quotes if it is text`);
  }
  return { date: text };
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
