/** zod's issues as problems with places: what was expected, what was found, what was meant. */

import { stringify } from 'yaml';
import type * as z from 'zod';
import { closest } from '../../base/closest.ts';
import { type ProblemLog, quote } from '../problem.ts';
import { slugOf } from '../task-ids.ts';
import { describe, nodeAt, placeOf, type YamlNode } from './yaml.ts';

/** Names that other tools have for native keys. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  after: 'needs',
  concurrency_group: 'group',
  dependencies: 'needs',
  depends_on: 'needs',
  files: 'writes',
  max_retries: 'retries',
  max_workers: 'workers',
};

type ErrorLog = Pick<ProblemLog, 'error' | 'isFull'>;

export function reportIssues(
  issues: readonly z.core.$ZodIssue[],
  schema: z.ZodType,
  root: YamlNode,
  log: ErrorLog,
): void {
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') reportUnknownKeys(issue, schema, root, log);
    else if (nodeAt(root, issue.path) === undefined) reportMissing(issue, root, log);
    else reportValue(issue, schema, root, log);
  }
}

function reportUnknownKeys(
  issue: z.core.$ZodIssueUnrecognizedKeys,
  schema: z.ZodType,
  root: YamlNode,
  log: ErrorLog,
): void {
  const known = keysAt(schema, issue.path);
  const where = issue.path.length === 0 ? '' : ` in ${pathText(issue.path)}`;
  for (const key of issue.keys) {
    const other = Object.hasOwn(OTHER_NAMES, key) ? OTHER_NAMES[key] : undefined;
    const isOther = other !== undefined && known.includes(other);
    const guess = isOther ? other : log.isFull ? null : closest(key, known);
    const remedy =
      guess === null ? `known keys: ${known.join(', ')}` : `did you mean ${quote(guess)}?`;
    const at = placeOf(root, [...issue.path, key], 'key');
    log.error(at, `unknown key ${quote(key)}${where}`, remedy);
  }
}

function reportMissing(issue: z.core.$ZodIssue, root: YamlNode, log: ErrorLog): void {
  const parent = issue.path.slice(0, -1);
  const where = parent.length === 0 ? '' : ` in ${pathText(parent)}`;
  log.error(placeOf(root, parent), `missing key ${quote(String(issue.path.at(-1)))}${where}`);
}

function reportValue(
  issue: z.core.$ZodIssue,
  schema: z.ZodType,
  root: YamlNode,
  log: ErrorLog,
): void {
  const node = nodeAt(root, issue.path)!;
  const { message, remedy, onKey } = (issue.code === 'custom' ? (issue.params ?? {}) : {}) as {
    message?: string;
    remedy?: string;
    onKey?: boolean;
  };
  const at = placeOf(root, issue.path, onKey === true ? 'key' : 'value');
  const found = message ?? `expected ${expectation(issue)}, found ${describe(node)}`;
  const way = issue.code === 'invalid_type' ? example(defAt(schema, issue.path), node) : undefined;
  log.error(at, `${pathText(issue.path)}: ${found}`, remedy ?? way);
}

/** A text in the place of a mapping was meant for one of these; names derive from it. */
const TEXT_KEYS = ['run', 'prompt', 'agent'];
const NAME_KEYS = ['name', 'id'];

/** How to write a text as the mapping, or list of mappings, that is expected. */
function example(expected: AnyDef, node: YamlNode): string | undefined {
  const entry = expected?.type === 'array' ? defOf(expected.element) : expected;
  if (entry?.type !== 'object' || node.kind !== 'scalar') return undefined;
  const { value } = node;
  const main = TEXT_KEYS.find((key) => key in entry.shape);
  if (typeof value !== 'string' || main === undefined) return undefined;
  const others = Object.keys(entry.shape).filter(
    (key) => key !== main && !isOptional(entry.shape[key]),
  );
  if (!others.every((key) => NAME_KEYS.includes(key))) return undefined;
  const names = others.map((key) => [key, slugOf(value)]);
  return `write it as\n${stringify([Object.fromEntries([...names, [main, value]])]).trimEnd()}`;
}

function isOptional(schema: z.core.$ZodType | undefined): boolean {
  return schema?._zod.optin === 'optional';
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'custom':
      return String(issue.params?.expected);
    case 'invalid_value':
      return issue.values.map(String).join(' or ');
    case 'too_small':
      return 'at least one entry';
    case 'invalid_type':
      return issue.expected === 'array' ? 'a list' : 'a mapping';
    default:
      return issue.message;
  }
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const here = defAt(schema, path);
  return here?.type === 'object' ? Object.keys(here.shape) : [];
}

function defAt(schema: z.ZodType, path: readonly PropertyKey[]): AnyDef {
  let here = defOf(schema);
  for (const step of path) {
    if (here?.type === 'object') here = defOf(here.shape[String(step)]);
    else if (here?.type === 'array') here = defOf(here.element);
    else if (here?.type === 'record') here = defOf(here.valueType);
    else here = undefined;
  }
  return here;
}

type AnyDef = z.core.$ZodObjectDef | z.core.$ZodArrayDef | z.core.$ZodRecordDef | undefined;

function defOf(schema: z.core.$ZodType | undefined): AnyDef {
  const def = schema && bare(schema)._zod.def;
  const isWalked = def?.type === 'object' || def?.type === 'array' || def?.type === 'record';
  return isWalked ? (def as AnyDef) : undefined;
}

/** What an optional value is. */
export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod;
  return def.type === 'optional' ? bare((def as z.core.$ZodOptionalDef).innerType) : schema;
}
