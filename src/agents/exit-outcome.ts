/**
 * The outcome of a program without a stream of its own: judged by its exit and its output.
 *
 *   P1. Exit 0 is success. Everything else is judged by what standard error says, then by the code.
 *   P2. A limit guessed from words is marked as guessed: the wait is then short.
 */

import type { Exit } from '../base/exit.ts';
import type { Failure } from '../model/failure.ts';
import type { AgentEnd, AgentOutcome } from './agent.ts';
import { clip } from './json-fields.ts';

/** What the end of a program means whose output was not understood at all. */
export function plainOutcome(end: AgentEnd): AgentOutcome {
  if (succeeded(end.exit)) return { ok: true, text: end.stdoutTail.trim() };
  return { ok: false, failure: plainFailure(end) };
}

/** Whether the program ended by itself with code 0. */
export function succeeded(exit: Exit): boolean {
  return exit.kind === 'exited' && exit.code === 0;
}

/** How a program ended and its last words on standard error, as one sentence. */
export function describeEnd(end: AgentEnd): string {
  const last = end.stderrTail.trim().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? `It ${verbOf(end.exit)}.` : `It ${verbOf(end.exit)}: ${clip(last, 500)}`;
}

function plainFailure(end: AgentEnd): Failure {
  const message = describeEnd(end);
  const { exit, stderrTail } = end;
  for (const [kind, pattern] of FATAL_WORDS) if (pattern.test(stderrTail)) return { kind, message };
  if (exit.kind === 'exited' && FATAL_CODES.includes(exit.code)) {
    return { kind: 'permanent', message };
  }
  if (LIMIT_WORDS.test(stderrTail)) return { kind: 'rate-limited', message, guessed: true };
  return { kind: exit.kind === 'aborted' ? 'interrupted' : 'transient', message };
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

/** Wrong usage; found but not executable; not found. */
const FATAL_CODES: readonly number[] = [2, 126, 127];

const FATAL_WORDS = [
  ['auth', /authentication[ _-]?(?:failed|error)|invalid[ _-]?api[ _-]?key/i],
  ['billing', /credit[ _-]?balance[ _-]?(?:is[ _-]?)?(?:too[ _-]?low|exceeded)/i],
  ['permanent', /permission[ _-]?denied/i],
] as const;

const LIMIT_WORDS = /rate[ _-]?limit|quota[ _-]?(?:exceeded|exhausted)/i;

/** It began to work and ended without a word about the end: a crash, or a signal from elsewhere. */
export function silentFailure(end: AgentEnd): Failure {
  return { kind: 'transient', message: `The agent ended without a result. ${describeEnd(end)}` };
}
