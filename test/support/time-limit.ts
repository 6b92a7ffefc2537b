/** Time limits that one program exceeds while others keep them, on a machine of any speed. */

export const TOO_SHORT = Symbol('the limit was too short');

const MOST_MS = 100_000;

/**
 * Plays a scene with a time limit, and again with one three times as long where it was too short for
 * what was to happen before it is reached.
 */
export async function withLimit<T>(
  leastMs: number,
  scene: (limitMs: number) => Promise<T | typeof TOO_SHORT>,
): Promise<T> {
  for (let limitMs = leastMs; limitMs < MOST_MS; limitMs *= 3) {
    const result = await scene(limitMs);
    if (result !== TOO_SHORT) return result;
  }
  throw new Error('no limit was long enough');
}
