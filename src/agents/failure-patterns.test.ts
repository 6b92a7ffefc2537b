import { expect, test } from 'vitest';
import type { Failure } from '../model/failure.ts';
import { namedByPatterns } from './failure-patterns.ts';

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
