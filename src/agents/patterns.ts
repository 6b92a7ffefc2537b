/**
 * patterns: what a user knows of failures that an agent does not report as data.
 *
 *   P1. Only a guess gives way: a kind that the agent itself has reported stays.
 *   P2. What a user says is no guess: a limit is waited for like one that was reported.
 *   P3. Patterns see the end of the words only, so that much output costs no time.
 */

import type { Failure } from '../model/failure.ts';
import type { FailurePattern } from '../model/plan.ts';
import type { AgentEnd } from './agent.ts';

/** As much as a pattern sees, in characters. */
const SEEN = 4_000;

/** The failure as the first of the patterns that matches names it, or as it is. */
export function namedByPatterns(
  failure: Failure,
  end: Pick<AgentEnd, 'result' | 'stdoutTail' | 'stderrTail'>,
  patterns: readonly FailurePattern[],
): Failure {
  if (!isGuess(failure, end)) return failure;
  const words = [end.stdoutTail, end.stderrTail, failure.message].join('\n').slice(-SEEN);
  const found = patterns.find(({ match }) => new RegExp(match, 'i').test(words));
  return found === undefined ? failure : { kind: found.kind, message: failure.message };
}

function isGuess(failure: Failure, { result }: Pick<AgentEnd, 'result'>): boolean {
  if (failure.kind === 'rate-limited' && failure.guessed === true) return true;
  const isReported = result?.failure !== undefined;
  return !isReported && ['transient', 'permanent', 'rate-limited'].includes(failure.kind);
}
