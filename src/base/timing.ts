/**
 * How long things take, for whoever asks: a span is told when it is over.
 *
 *   T1. While nobody listens, timing costs one comparison and changes nothing.
 *   T2. What is timed is not changed by it: answers, errors and order are the same.
 */

/** Something that took time; times are in milliseconds since 1970, with fractions. */
export interface Span {
  readonly kind: string;
  /** For whom it was done; null for the whole. */
  readonly of: string | null;
  readonly name: string;
  readonly begin: number;
  readonly end: number;
}

export type Timed = Pick<Span, 'kind' | 'of' | 'name'>;

let listener: ((span: Span) => void) | null = null;

/** Tells every span from now on to `listen`; null ends that. */
export function listenToSpans(listen: ((span: Span) => void) | null): void {
  listener = listen;
}

/** Does work that takes time. */
export async function timed<T>(what: Timed, work: () => Promise<T>): Promise<T> {
  if (listener === null) return work();
  const begin = now();
  try {
    return await work();
  } finally {
    listener?.({ ...what, begin, end: now() });
  }
}

/** Does work that nothing waits for. */
export function timedNow<T>(what: Timed, work: () => T): T {
  if (listener === null) return work();
  const begin = now();
  try {
    return work();
  } finally {
    listener?.({ ...what, begin, end: now() });
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
