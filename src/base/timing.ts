/**
 * How long things take: the current runtime's `onSpan` receives each span when it is over. Without
 * a listener timing costs one look-up.
 */

import { currentRuntime } from './runtime.ts';

/** Something that took time; times are in milliseconds since 1970, with fractions. */
export interface Span {
  readonly kind: string;
  /** The task it was done for; null for the whole run. */
  readonly of: string | null;
  readonly name: string;
  readonly begin: number;
  readonly end: number;
}

export type Timed = Pick<Span, 'kind' | 'of' | 'name'>;

/** Times asynchronous work. */
export async function timed<T>(what: Timed, work: () => Promise<T>): Promise<T> {
  using _ = measure(what);
  return await work();
}

/** Times synchronous work. */
export function timedNow<T>(what: Timed, work: () => T): T {
  using _ = measure(what);
  return work();
}

function measure(what: Timed): Disposable | null {
  const onSpan = currentRuntime()?.onSpan ?? null;
  if (onSpan === null) return null;
  const begin = now();
  return { [Symbol.dispose]: () => onSpan({ ...what, begin, end: now() }) };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
