/** Assertions: a broken invariant is a bug and stops the program at once. */

import { InvariantError } from './errors.ts';

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Makes a switch exhaustive: the compiler rejects a missing case, the program a foreign value. */
export function unreachable(value: never): never {
  throw new InvariantError(`unexpected value: ${JSON.stringify(value)}`);
}
