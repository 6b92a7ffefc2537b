/** Assertions: a broken invariant is a bug of ours and must stop the program at once. */

import { InvariantError } from './errors.ts';

/** Throws an InvariantError unless the condition holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Makes a switch exhaustive: the compiler rejects a missing case, the program a foreign value. */
export function unreachable(value: never): never {
  throw new InvariantError(`unexpected value: ${JSON.stringify(value)}`);
}
