/**
 * The user's patterns for failures that an agent does not report as data.
 *
 *   P1. Only a guess is overridden: a kind that the agent reported itself stays.
 *   P2. A pattern is not a guess: its limit is waited for like a reported one.
 *   P3. Patterns see only the end of the output, so that long output costs no time.
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
  const isOpen = ['transient', 'exit-code', 'permanent', 'rate-limited'].includes(failure.kind);
  return isOpen && !isReported;
}
