/**
 * What the end of an agent's process means.
 *
 *   P1. The last `result` decides. Without one: what the program says when it refuses to start, then
 *       the way it ended.
 *   P2. A program that never spoke its stream's language (a wrapper, a stand-in) is judged as a plain
 *       command: exit 0 is success, everything else is judged by standard error, then by the code.
 *   P3. A limit guessed from words is marked as guessed: the wait is then short.
 *   P4. The user's patterns override only a guess: a kind that the agent reported itself stays. A
 *       pattern is not a guess: its limit is waited for like a reported one.
 */

import type { Exit } from '../base/exit.ts';
import type { Failure } from '../model/failure.ts';
import type { FailurePattern } from '../model/plan.ts';
import type { AgentEnd, AgentOutcome } from './agent.ts';
import { clip } from './json-fields.ts';

/** The outcome of an agent with a stream; `refusal` is what it said when it did not start. */
export function streamOutcome(end: AgentEnd, refusal: Failure | null): AgentOutcome {
  const { result } = end;
  if (result?.ok) {
    const { text, structured } = result;
    return { ok: true, text, ...(structured === undefined ? {} : { structured }) };
  }
  if (result) return { ok: false, failure: result.failure ?? silentFailure(end) };
  if (refusal !== null && !succeeded(end.exit)) return { ok: false, failure: refusal };
  return end.spoke ? { ok: false, failure: silentFailure(end) } : plainOutcome(end);
}

/** The outcome of a program whose output was not understood at all. */
export function plainOutcome(end: AgentEnd): AgentOutcome {
  if (succeeded(end.exit)) return { ok: true, text: end.stdoutTail.trim() };
  return { ok: false, failure: plainFailure(end) };
}

export function succeeded(exit: Exit): boolean {
  return exit.kind === 'exited' && exit.code === 0;
}

/** How a program ended and its last words on standard error, as one sentence. */
export function describeEnd(end: AgentEnd): string {
  const last = end.stderrTail.trim().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? `It ${verbOf(end.exit)}.` : `It ${verbOf(end.exit)}: ${clip(last, 500)}`;
}

function verbOf(exit: Exit): string {
  switch (exit.kind) {
    case 'exited':
      return `exited with code ${exit.code}`;
    case 'signalled':
      return `was ended by ${exit.signal}`;
    case 'aborted':
      return 'was stopped';
  }
}

function plainFailure(end: AgentEnd): Failure {
  const message = describeEnd(end);
  const { exit, stderrTail } = end;
  for (const [kind, pattern] of FATAL_WORDS) if (pattern.test(stderrTail)) return { kind, message };
  if (exit.kind === 'exited' && FATAL_CODES.includes(exit.code)) {
    return { kind: 'permanent', message };
  }
  if (LIMIT_WORDS.test(stderrTail)) return { kind: 'rate-limited', message, guessed: true };
  return { kind: brokenOff(exit), message };
}

/** It began to work and ended without a word about the end: a crash, or a signal from elsewhere. */
function silentFailure(end: AgentEnd): Failure {
  const message = `The agent ended without a result. ${describeEnd(end)}`;
  return { kind: brokenOff(end.exit), message };
}

function brokenOff(exit: Exit): 'interrupted' | 'transient' {
  return exit.kind === 'aborted' ? 'interrupted' : 'transient';
}

/** Wrong usage; found but not executable; not found. */
const FATAL_CODES: readonly number[] = [2, 126, 127];

const FATAL_WORDS = [
  ['auth', /authentication[ _-]?(?:failed|error)|invalid[ _-]?api[ _-]?key/i],
  ['billing', /credit[ _-]?balance[ _-]?(?:is[ _-]?)?(?:too[ _-]?low|exceeded)/i],
  ['permanent', /permission[ _-]?denied/i],
] as const;

const LIMIT_WORDS = /rate[ _-]?limit|quota[ _-]?(?:exceeded|exhausted)/i;

/** Names a guessed failure by the first of the user's patterns that matches the end of the output. */
export function namedByPatterns(
  failure: Failure,
  end: Pick<AgentEnd, 'result' | 'stdoutTail' | 'stderrTail'>,
  patterns: readonly FailurePattern[],
): Failure {
  const isMarked = failure.kind === 'rate-limited' && failure.guessed === true;
  const isOpen = ['transient', 'exit-code', 'permanent', 'rate-limited'].includes(failure.kind);
  if (!isMarked && (!isOpen || end.result?.failure !== undefined)) return failure;
  const words = [end.stdoutTail, end.stderrTail, failure.message].join('\n').slice(-MOST_SEEN);
  const found = patterns.find(({ match }) => new RegExp(match, 'i').test(words));
  return found === undefined ? failure : { kind: found.kind, message: failure.message };
}

/** Characters that a pattern sees, so that long output costs no time. */
const MOST_SEEN = 4_000;
