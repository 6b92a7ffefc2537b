/** The part of the fold that begins an attempt; fold.ts alone calls it. */

import { ownDoer } from './doer.ts';
import type { Event } from './event.ts';
import type { TaskSpec } from './plan.ts';
import type { Attempt } from './state.ts';

/** An attempt of which nothing is known but how it began. */
export function newAttempt(
  event: Event & { type: 'attempt.started' },
  at: number,
  spec: TaskSpec,
): Attempt {
  return {
    attempt: event.attempt,
    start: event.start,
    by: event.by ?? ownDoer(spec),
    base: event.base,
    startedAt: at,
    endedAt: null,
    failure: null,
    exitCode: null,
    reservedUsd: event.budgetUsd ?? 0,
    costUsd: 0,
    inputTokens: 0,
    outputTokens: 0,
    denied: [],
    strayed: [],
    astray: [],
    files: [],
    outside: [],
    text: '',
    structured: null,
    status: null,
  };
}
