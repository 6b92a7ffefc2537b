/** What the end of a process means: by its exit and its words, and by the user's patterns. */

import { expect, test } from 'vitest';
import { jobOf } from '../../test/support/job.ts';
import type { Exit } from '../base/exit.ts';
import type { Failure, FailureKind } from '../model/failure.ts';
import { namedByPatterns, plainOutcome } from './outcome.ts';

function judge(exit: Exit, stderrTail: string, stdoutTail = '') {
  return plainOutcome({ exit, job: jobOf(), result: null, spoke: false, stdoutTail, stderrTail });
}

test.each<[number, string, FailureKind]>([
  [1, '', 'transient'],
  [1, 'Segmentation fault', 'transient'],
  [2, '', 'permanent'],
  [126, '', 'permanent'],
  [127, 'rate limit', 'permanent'],
  [1, 'open: Permission denied', 'permanent'],
  [1, 'authentication failed', 'auth'],
  [1, 'AUTHENTICATION_ERROR', 'auth'],
  [1, 'Invalid API-key', 'auth'],
  [1, 'credit balance too low', 'billing'],
  [1, 'Credit balance is too low', 'billing'],
  [1, 'credit_balance_exceeded', 'billing'],
  [1, 'rate_limit_error', 'rate-limited'],
  [1, 'RATE LIMIT', 'rate-limited'],
  [1, 'quota exhausted', 'rate-limited'],
])('exit %i with "%s" on standard error is %s', (code, stderr, kind) => {
  const outcome = judge({ kind: 'exited', code }, stderr);
  expect(outcome.ok ? 'ok' : outcome.failure.kind).toBe(kind);
});

test('words on standard output are no reason', () => {
  expect(judge({ kind: 'exited', code: 1 }, '', 'invalid api key')).toEqual({
    ok: false,
    failure: { kind: 'transient', message: 'It exited with code 1.' },
  });
});

test('exit 0 is success, whatever standard error says', () => {
  expect(judge({ kind: 'exited', code: 0 }, 'rate limit', 'done\n')).toEqual({
    ok: true,
    text: 'done',
  });
});

test('a signal may be tried again', () => {
  expect(judge({ kind: 'signalled', signal: 'SIGSEGV' }, 'a\nb\n')).toEqual({
    ok: false,
    failure: { kind: 'transient', message: 'It was ended by SIGSEGV: b' },
  });
});

const GUESS: Failure = { kind: 'exit-code', message: 'It exited with code 1.' };
const silent = { result: null, stdoutTail: '', stderrTail: '' };
const BUSY = { match: 'server (is )?busy', kind: 'rate-limited' } as const;

test('the first pattern that matches the message or the output names a guessed failure', () => {
  const end = { ...silent, stderrTail: 'The SERVER is busy\nbye' };
  const limited = { kind: 'rate-limited', message: GUESS.message };
  expect(namedByPatterns(GUESS, end, [BUSY, { match: '.', kind: 'auth' }])).toEqual(limited);
  const byMessage = [{ match: 'code 1\\.$', kind: 'permanent' }] as const;
  expect(namedByPatterns(GUESS, silent, byMessage)).toEqual({ ...GUESS, kind: 'permanent' });
  expect(namedByPatterns(GUESS, silent, [BUSY])).toEqual(GUESS);
});

test('what the agent has reported as data stays, whatever its words', () => {
  const failure: Failure = { kind: 'transient', message: 'The service answered 503: server busy' };
  const result = { type: 'result', ok: false, text: '', failure } as const;
  expect(namedByPatterns(failure, { ...silent, result }, [BUSY])).toEqual(failure);
  for (const kind of ['turns', 'budget', 'session-lost', 'auth'] as const) {
    const other: Failure = { kind, message: 'server busy' };
    expect(namedByPatterns(other, silent, [BUSY])).toEqual(other);
  }
});

test('a limit that was only guessed from a reported error gives way', () => {
  const failure: Failure = { kind: 'rate-limited', message: 'server busy', guessed: true };
  const result = { type: 'result', ok: false, text: '', failure } as const;
  const patterns = [{ ...BUSY, kind: 'billing' }] as const;
  const named = namedByPatterns(failure, { ...silent, result }, patterns);
  expect(named).toEqual({ kind: 'billing', message: 'server busy' });
});

test('words further back than 4,000 characters are not seen', () => {
  const end = { ...silent, stdoutTail: `server busy${'.'.repeat(4_000)}` };
  expect(namedByPatterns(GUESS, end, [BUSY])).toEqual(GUESS);
});
