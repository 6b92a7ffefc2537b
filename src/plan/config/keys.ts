/**
 * The keys of a configuration, read from its schema and written with dots (`land.verify`). Each of
 * the user's own names in a mapping is a key (`limits.groups.db`); an MCP server is one value.
 */

import type * as z from 'zod';
import { closest } from '../../base/closest.ts';
import { UserError } from '../../base/errors.ts';
import type { Shape } from '../formats/native/values.ts';
import { quote } from '../problem.ts';
import { configSchema } from './schema.ts';

export interface ConfigKey {
  readonly path: readonly string[];
  readonly shape: Shape;
  readonly schema: z.core.$ZodType;
}

/** In the order of the schema; a mapping of the user's own names is one key. */
export const CONFIG_KEYS = keysBelow(configSchema, []);

export function findKey(name: string): ConfigKey | undefined {
  const path = name.split('.');
  const exact = CONFIG_KEYS.find((key) => key.path.join('.') === name);
  if (exact !== undefined) return exact;
  const map = CONFIG_KEYS.find(
    (key) => key.path.length === path.length - 1 && name.startsWith(`${key.path.join('.')}.`),
  );
  const inner = map && namedValue(map.schema);
  return inner && path.at(-1) !== '' ? { path, ...inner } : undefined;
}

export function keyNamed(name: string): ConfigKey {
  const key = findKey(name);
  if (key !== undefined) return key;
  const names = CONFIG_KEYS.map(({ path }) => path.join('.'));
  const guess = names.find((one) => one.endsWith(`.${name}`)) ?? closest(name, names);
  const all = "docs/configuration.md in landfast's package has them all.";
  const remedy = guess === null ? all : `Did you mean ${guess}?`;
  throw new UserError(`There is no key ${quote(name)}.`, remedy);
}

export function isSection(name: string): boolean {
  return CONFIG_KEYS.some((key) => key.path.join('.').startsWith(`${name}.`));
}

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

/** The schema of what one of the user's own names holds. */
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
