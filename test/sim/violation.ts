/** The two ways in which a simulated engine ends before its time. */

/** An invariant is broken: the world is to be reported with its seed. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** The engine's process died; the world goes on with the next one. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** Throws a Violation unless the condition holds. */
export function rule(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Violation(message);
}
