/** What Codex's errors mean. */

import { expect, test } from 'vitest';
import { resetTime, serviceFailure } from './failure.ts';

test.each([
  ['unexpected status 401 Unauthorized: no, url: http://x', null, 'auth'],
  ['unexpected status 403 Forbidden: no, url: http://x', 200, 'auth'],
  ['unexpected status 402 Payment Required: no', null, 'billing'],
  ['unexpected status 404 Not Found: model', null, 'permanent'],
  ['exceeded retry limit, last status: 429 Too Many Requests', null, 'rate-limited'],
  ['exceeded retry limit, last status: 500 Internal Server Error', null, 'transient'],
  ['Quota exceeded. Check your plan and billing details.', 429, 'billing'],
  ['Missing environment variable: `OPENAI_API_KEY`.', null, 'auth'],
  ['Your refresh token was revoked. Please log out and sign in again.', null, 'auth'],
  ['Codex ran out of room in the model’s context window.', null, 'permanent'],
  ['We’re currently experiencing high demand, which may cause errors.', 429, 'transient'],
  ['stream disconnected before completion', 401, 'transient'],
  ['something new', 503, 'transient'],
  ['something new', 400, 'permanent'],
  ['something new', null, 'transient'],
  ['', null, 'transient'],
])('%j after an answer of %s is %s', (message, status, kind) => {
  expect(serviceFailure({ message, status, now: null }).kind).toBe(kind);
});

test('the body of an answer is told by its message', () => {
  const message = '{"error":{"message":"bad thing","type":"invalid_request_error"}}';
  expect(serviceFailure({ message, status: null, now: null })).toEqual({
    kind: 'permanent',
    message: 'bad thing',
  });
});

test('a limit without a time is a limit', () => {
  const message = 'You’ve hit your usage limit. Try again later.';
  expect(serviceFailure({ message, status: 429, now: 0 })).toEqual({
    kind: 'rate-limited',
    message,
  });
});

test.each([
  ['try again at Nov 17th, 2026 5:29 AM.', new Date(2026, 10, 17, 5, 30)],
  ['Try again at Jan 1st, 2027 12:00 AM.', new Date(2027, 0, 1, 0, 1)],
  ['try again at Feb 2nd, 2027 12:59 PM', new Date(2027, 1, 2, 13, 0)],
  ['try again at 11:59 PM.', new Date(2026, 11, 1, 0, 0)],
])('%s', (words, expected) => {
  const now = new Date(2026, 10, 30, 20, 0).getTime();
  expect(resetTime(words, now)).toBe(expected.getTime());
});

test.each(['try again at 11:59 PM', 'try again at Foo 1st, 2027 1:00 AM', 'try again later'])(
  'without a known day there is no time: %s',
  (words) => expect(resetTime(words, null)).toBeNull(),
);
