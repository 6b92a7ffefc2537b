/**
 * The keys of a configuration, read from its one schema: what there is, and of which kind.
 *
 *   K1. A key is written with dots (`land.verify`). Below a mapping of the user's own names each has
 *       a key (`limits.groups.db`); a server of MCP is one value.
 */

import type * as z from 'zod';
import { UserError } from '../../base/errors.ts';
import type { Shape } from '../formats/native/value.ts';
import { once } from '../once.ts';
import { quote } from '../problem.ts';
import { closest } from '../suggest.ts';
import { configSchema } from './schema.ts';

export interface ConfigKey {
  readonly path: readonly string[];
  readonly shape: Shape;
  readonly schema: z.core.$ZodType;
}

/** Every key with one value, in the order of the schema; of a mapping of names the mapping. */
export const configKeys = once(() => keysBelow(configSchema(), []));

/** The key that is written so; undefined where there is none. */
export function findKey(name: string): ConfigKey | undefined {
  const path = name.split('.');
  const exact = configKeys().find((key) => key.path.join('.') === name);
  if (exact !== undefined) return exact;
  const map = configKeys().find(
    (key) => key.path.length === path.length - 1 && name.startsWith(`${key.path.join('.')}.`),
  );
  const inner = map && namedValue(map.schema);
  return inner && path.at(-1) !== '' ? { path, ...inner } : undefined;
}

/** The key that is written so, or an error that says what was meant. */
export function keyNamed(name: string): ConfigKey {
  const key = findKey(name);
  if (key !== undefined) return key;
  const names = configKeys().map(({ path }) => path.join('.'));
  const guess = names.find((one) => one.endsWith(`.${name}`)) ?? closest(name, names);
  const remedy = guess === null ? 'docs/configuration.md has them all.' : `Did you mean ${guess}?`;
  throw new UserError(`There is no key ${quote(name)}.`, remedy);
}

/** Whether the name is one of a section that holds further keys. */
export function isSection(name: string): boolean {
  return configKeys().some((key) => key.path.join('.').startsWith(`${name}.`));
}

/** A value of our own kinds or a list of them, in the words of JSON Schema. */
export function shapeOf(schema: z.core.$ZodType): Shape {
  const { def } = bare(schema)._zod;
  if (def.type === 'array') {
    return { type: 'array', items: shapeOf((def as z.core.$ZodArrayDef).element) };
  }
  if (def.type === 'object' || def.type === 'record') return { type: 'object' };
  return ((bare(schema) as z.ZodType).meta() ?? {}) as Shape;
}

function keysBelow(schema: z.core.$ZodType, path: readonly string[]): readonly ConfigKey[] {
  const inner = bare(schema);
  const { def } = inner._zod;
  if (def.type !== 'object') return [{ path, shape: shapeOf(inner), schema: inner }];
  const entries = Object.entries((def as z.core.$ZodObjectDef).shape);
  return entries.flatMap(([key, value]) => keysBelow(value, [...path, key]));
}

/** What stands behind one of the user's own names. */
function namedValue(schema: z.core.$ZodType): Pick<ConfigKey, 'shape' | 'schema'> | undefined {
  const { def } = bare(schema)._zod;
  if (def.type === 'record') {
    const inner = bare((def as z.core.$ZodRecordDef).valueType);
    return { shape: shapeOf(inner), schema: inner };
  }
  const { additionalProperties } = shapeOf(schema);
  return additionalProperties && { shape: additionalProperties, schema };
}

function bare(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod;
  return def.type === 'optional' ? bare((def as z.core.$ZodOptionalDef).innerType) : schema;
}
