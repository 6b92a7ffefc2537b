/** Random values that fit a schema of zod: each optional field is there or not, each choice is drawn. */

import type { z } from 'zod';
import type { Random } from '../sim/random.ts';

export interface Drawing {
  readonly random: Random;
  /** A text for a field that may hold any. */
  text(): string;
}

/** Every member of a union of objects; the schema itself where it is none. */
export function membersOf(schema: z.ZodType): readonly z.ZodType[] {
  const { def } = (schema as z.ZodUnion)._zod;
  return def.type === 'union' ? (def.options as readonly z.ZodType[]) : [schema];
}

export function drawValue(schema: z.ZodType, drawing: Drawing): unknown {
  const { random, text } = drawing;
  const { def } = (schema as z.ZodType & { _zod: { def: AnyDef } })._zod;
  const inner = (one: unknown) => drawValue(one as z.ZodType, drawing);
  const some = (draw: () => unknown) => Array.from({ length: random.between(0, 3) }, draw);
  switch (def.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape ?? {})
          .filter(([, one]) => typeOf(one) !== 'optional' || random.chance(0.7))
          .map(([name, one]) => [name, inner(one)]),
      );
    case 'array':
      return some(() => inner(def.element));
    case 'tuple':
      return def.items?.map(inner);
    case 'union':
      return inner(random.pick(def.options ?? []));
    case 'nullable':
      return random.chance(0.2) ? null : inner(def.innerType);
    case 'optional':
      return inner(def.innerType);
    case 'literal':
      return random.pick(def.values ?? []);
    case 'enum':
      return random.pick(Object.values(def.entries ?? {}));
    case 'string':
      return text();
    case 'number':
      return random.between(0, 10_000);
    case 'boolean':
      return random.chance(0.5);
    case 'unknown':
      return random.pick([text(), null, 7, { [text()]: [text(), { deep: text() }] }]);
    default:
      throw new Error(`no values for ${def.type}`);
  }
}

function typeOf(schema: unknown): string {
  return (schema as z.ZodType)._zod.def.type;
}

interface AnyDef {
  readonly type: string;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly element?: unknown;
  readonly items?: readonly unknown[];
  readonly options?: readonly unknown[];
  readonly innerType?: unknown;
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, unknown>>;
}
