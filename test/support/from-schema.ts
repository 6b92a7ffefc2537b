/** Random values that fit a schema of schemas/: each optional field is there or not, each choice is drawn. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../sim/random.ts';

/** What scripts/type-schema.ts writes; `root` resolves references. */
export interface Schema {
  readonly json: Json;
  readonly root: Json;
}

interface Json {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Json[];
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Json;
  readonly items?: Json | readonly Json[];
  readonly definitions?: Readonly<Record<string, Json>>;
}

export interface Drawing {
  readonly random: Random;
  /** A text for a field that may hold any. */
  text(): string;
}

/** A schema of schemas/, or one of its definitions. */
export function readSchema(name: 'event' | 'effect' | 'message', definition?: string): Schema {
  const file = join(import.meta.dirname, '..', '..', 'schemas', `${name}.schema.json`);
  const root = JSON.parse(readFileSync(file, 'utf8')) as Json;
  return { json: definition === undefined ? root : root.definitions![definition]!, root };
}

/** Every member of a union, and of unions in it; the schema itself where it is none. */
export function membersOf({ json, root }: Schema): readonly Schema[] {
  const { anyOf } = resolved(json, root);
  if (anyOf === undefined) return [{ json, root }];
  return anyOf.flatMap((each) => membersOf({ json: each, root }));
}

function resolved(json: Json, root: Json): Json {
  if (json.$ref === undefined) return json;
  return root.definitions![json.$ref.replace('#/definitions/', '')]!;
}

export function drawValue({ json, root }: Schema, drawing: Drawing): unknown {
  const { random, text } = drawing;
  const schema = resolved(json, root);
  const inner = (one: Json) => drawValue({ json: one, root }, drawing);
  const some = <T>(draw: () => T): T[] => Array.from({ length: random.between(0, 3) }, draw);
  if ('const' in schema) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) return inner(random.pick(schema.anyOf));
  const { items, properties = {}, required = [], additionalProperties } = schema;
  switch (schema.type) {
    case 'object':
      if (additionalProperties !== undefined) {
        return Object.fromEntries(some(() => [text(), inner(additionalProperties)]));
      }
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([name]) => required.includes(name) || random.chance(0.7))
          .map(([name, one]) => [name, inner(one)]),
      );
    case 'array':
      if (Array.isArray(items)) return (items as readonly Json[]).map(inner);
      return some(() => inner(items as Json));
    case 'null':
      return null;
    case 'string':
      return text();
    case 'number':
      return random.between(0, 10_000);
    case 'boolean':
      return random.chance(0.5);
    case undefined:
      return random.pick([text(), null, 7, { [text()]: [text(), { deep: text() }] }]);
    default:
      throw new Error(`no values for ${schema.type}`);
  }
}
