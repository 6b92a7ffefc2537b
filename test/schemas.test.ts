/** The JSON Schemas for editors: they are those of the program, and they say yes and no as it does. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { schemaFiles } from '../scripts/schemas.ts';

const root = join(import.meta.dirname, '..');
const PLAN = 'schemas/plan.schema.json';
const CONFIG = 'schemas/config.schema.json';

interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

const read = (path: string): Schema => JSON.parse(readFileSync(join(root, path), 'utf8')) as Schema;

test('the files are what `node scripts/schemas.ts` writes', () => {
  for (const [path, text] of Object.entries(schemaFiles())) {
    expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
  }
});

test('every key of a plan and of a task says what it means', () => {
  const { properties = {} } = read(PLAN);
  const missing = [properties, properties.tasks?.items?.properties ?? {}].flatMap((keys) =>
    Object.entries(keys).filter(([, inner]) => !('description' in inner)),
  );
  expect(missing).toEqual([]);
});

describe('the examples in the documentation are valid', () => {
  const blocks = (file: string): readonly string[] =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(([, a]) => a!);
  const plans = blocks('docs/formats.md').filter((text) => /^landfast: 1/m.test(text));
  const configs = blocks('docs/configuration.md');

  test.each([
    ...plans.map((text) => [PLAN, text] as const),
    ...configs.map((text) => [CONFIG, text] as const),
  ])('%s: %s', (path, text) => {
    expect(problems(read(path), parse(text))).toEqual([]);
  });

  test('there is something to show', () => {
    expect([plans.length > 0, configs.length > 0]).toEqual([true, true]);
  });
});

const TASK = { id: 'a', prompt: 'p' };

describe('the schema refuses every form that the program refuses', () => {
  test.each<[string, object, string]>([
    [PLAN, { landfast: 1 }, 'tasks is missing'],
    [PLAN, { landfast: 2, tasks: [TASK] }, 'landfast'],
    [PLAN, { landfast: 1, tasks: [] }, 'tasks'],
    [PLAN, { landfast: 1, tasks: [{ ...TASK, promt: 'x' }] }, 'tasks.0.promt'],
    [PLAN, { landfast: 1, tasks: [{ ...TASK, id: '../x' }] }, 'tasks.0.id'],
    [PLAN, { landfast: 1, tasks: [{ ...TASK, timeout: '1 hour' }] }, 'tasks.0.timeout'],
    [PLAN, { landfast: 1, tasks: [{ ...TASK, needs: 'b' }] }, 'tasks.0.needs'],
    [PLAN, { landfast: 1, tasks: [TASK], limits: { workers: 0 } }, 'limits.workers'],
    [PLAN, { landfast: 1, tasks: [TASK], land: { verify: 'eech' } }, 'land.verify'],
    [PLAN, { landfast: 1, tasks: [TASK], fence: { network: [] } }, 'fence.network'],
    [PLAN, { landfast: 1, tasks: [{ ...TASK, env: { A: 1 } }] }, 'tasks.0.env.A'],
    [CONFIG, { agent: { max_retries: 'x' } }, 'agent.max_retries'],
    [CONFIG, { workflow: { auto_approve: 'maybe' } }, 'workflow.auto_approve'],
    [CONFIG, { agnet: {} }, 'agnet'],
    [CONFIG, { gates: [{ name: 'a' }] }, 'gates.0.run is missing'],
  ])('%s %j: %s', (path, value, expected) => {
    expect(problems(read(path), value)).toEqual([expected]);
  });
});

describe('every key is in the tables of docs/formats.md and docs/configuration.md', () => {
  test.each([PLAN, CONFIG])('%s', (path) => {
    const keys = keysOf(read(path));
    expect(keys.length).toBeGreaterThan(100);
    expect(keys.filter((key) => !isTold(key, keys)).map((key) => key.path)).toEqual([]);
  });
});

interface Key {
  readonly path: string;
  /** What its row in the tables says (scripts/schemas.ts). */
  readonly row: string | null;
  /** The same of what it belongs to. */
  readonly above: string;
}

function keysOf(schema: Schema, path = '', above = ''): readonly Key[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    const row = inner.description ?? null;
    return [{ path: here, row, above }, ...keysOf(inner, here, row ?? above)];
  });
  const { items, additionalProperties: values } = schema;
  return [
    ...own,
    ...(items === undefined ? [] : keysOf(items, `${path}[]`, above)),
    ...(typeof values === 'object' ? keysOf(values, path, above) : []),
  ];
}

/** By a row of its own, in the row of what it belongs to, or, as a section, by its keys. */
function isTold({ path, row, above }: Key, keys: readonly Key[]): boolean {
  const name = path.split('.').at(-1) ?? '';
  if (row !== null || new RegExp(`\\b${name}\\b`).test(above)) return true;
  return keys.some((key) => key.path.startsWith(`${path}.`) && key.row !== null);
}

/** As much of JSON Schema as ours use: where a value does not fit. */
function problems(schema: Schema, value: unknown, path = ''): readonly string[] {
  const at = (step: string | number): string => (path === '' ? `${step}` : `${path}.${step}`);
  const { anyOf, items, properties = {}, additionalProperties: more = true } = schema;
  if (anyOf !== undefined) {
    return anyOf.some((one) => problems(one, value).length === 0) ? [] : [path];
  }
  if (!fitsAlone(schema, value)) return [path];
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => (items === undefined ? [] : problems(items, item, at(i))));
  }
  if (value === null || typeof value !== 'object') return [];
  const missing = (schema.required ?? []).filter((key) => !Object.hasOwn(value, key));
  const wrong = Object.entries(value).flatMap(([key, inner]) => {
    if (schema.propertyNames !== undefined && !fitsAlone(schema.propertyNames, key))
      return [at(key)];
    if (properties[key] !== undefined) return problems(properties[key], inner, at(key));
    if (typeof more === 'boolean') return more ? [] : [at(key)];
    return problems(more, inner, at(key));
  });
  return [...missing.map((key) => `${at(key)} is missing`), ...wrong];
}

function fitsAlone(schema: Schema, value: unknown): boolean {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const kinds = Number.isInteger(value) ? [kind, 'integer'] : [kind];
  if (schema.type !== undefined && ![schema.type].flat().some((t) => kinds.includes(t)))
    return false;
  if (schema.const !== undefined && schema.const !== value) return false;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  if (typeof value === 'string') return new RegExp(schema.pattern ?? '').test(value);
  if (Array.isArray(value)) return value.length >= (schema.minItems ?? 0);
  if (typeof value !== 'number') return true;
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity } = schema;
  return value >= minimum && value <= maximum && value > exclusiveMinimum;
}
