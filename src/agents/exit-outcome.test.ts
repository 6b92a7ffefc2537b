/** A program that says nothing of itself, judged by its exit and its words. */

import { expect, test } from 'vitest';
import { jobOf } from '../../test/support/job.ts';
import type { Exit } from '../base/exit.ts';
import type { FailureKind } from '../model/failure.ts';
import { plainOutcome } from './exit-outcome.ts';

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
