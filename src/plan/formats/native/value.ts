/**
 * One kind of value: how it is read from whatever YAML gave, and how an editor is told of it.
 *
 *   U1. The shape says no more than the reader does: what the reader takes, fits the shape.
 */

import * as z from 'zod';

// Otherwise zod compiles what it checks, which takes longer than to check a thousand tasks.
z.config({ jitless: true });

/** Why a value was not taken. Travels through zod as the parameters of an issue. */
export interface Refusal {
  /** What would be right: the message is then "expected …, found …". */
  readonly expected?: string;
  readonly message?: string;
  readonly remedy?: string;
  /** Where inside the value. */
  readonly path?: readonly (string | number)[];
  /** The key itself is wrong, not what it holds. */
  readonly onKey?: boolean;
}

/** A kind of value in the words of JSON Schema. */
export interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly additionalProperties?: Shape;
  readonly propertyNames?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** `refuse` may be called more than once; what is returned then does not matter. */
export function value<T>(
  shape: Shape,
  read: (given: unknown, refuse: (refusal: Refusal) => never) => T,
) {
  return z
    .unknown()
    .transform((given, context): T => {
      const refuse = (refusal: Refusal): never => {
        context.issues.push({
          code: 'custom',
          message: refusal.message ?? '',
          params: { ...refusal },
          path: [...(refusal.path ?? [])],
          input: given,
        });
        return z.NEVER;
      };
      return read(given, refuse);
    })
    .meta({ ...shape });
}

/** What to do about a number or a boolean where text was meant. */
export function inQuotes(given: unknown): { remedy?: string } {
  return typeof given === 'number' || typeof given === 'boolean'
    ? { remedy: `put it in quotes: "${given}"` }
    : {};
}
