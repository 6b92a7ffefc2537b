/** The stream parser against lines no recording holds: hostile, odd, and of standard error. */

import { expect, test } from 'vitest';
import { jobOf } from '../../../test/support/job.ts';
import type { AgentEvent } from '../../model/agent-event.ts';
import { NO_OPTIONS } from '../../model/plan.ts';
import { StreamParser } from './stream.ts';

const AT = '2026-11-15T20:00:00.000Z';

function parse(...lines: readonly object[]): readonly AgentEvent[] {
  const parser = new StreamParser(jobOf());
  return lines.flatMap((fields) => parser.stdout(JSON.stringify({ timestamp: AT, ...fields })));
}

function stderr(...lines: readonly string[]): readonly AgentEvent[] {
  const parser = new StreamParser(jobOf());
  return lines.flatMap((line) => parser.stderr(line));
}

test.each([
  ...[
    '',
    '123',
    'null',
    '[]',
    '{"type":"result"',
    'YOLO mode is enabled.',
    '\u0000',
    '\ufffd\ufffd',
  ],
  ...['{"type":7}', '{"type":"result","status":"success"}', '{"timestamp":7,"type":"init"}'],
])('%j is not a line of the stream', (line) => {
  expect(new StreamParser(jobOf()).stdout(line)).toEqual([]);
});

test.each([
  [{ type: 'telemetry' }, 'telemetry'],
  [{ type: 7 }, ''],
  [{ type: 'init' }, 'init'],
  [{ type: 'message', role: 'user', content: 'x' }, 'message'],
  [{ type: 'message', role: 'assistant', content: ['x'] }, 'message'],
])('%j has no meaning for us but is a sign of life', (fields, what) => {
  expect(parse(fields)).toEqual([{ type: 'activity', what }]);
});

test('fields of a wrong type read as if they were absent', () => {
  expect(
    parse(
      { type: 'tool_use', tool_id: 7, tool_name: {} },
      { type: 'tool_result', tool_id: [], status: 7, output: {}, error: 'x' },
      { type: 'error', message: 7 },
      { type: 'result', status: 'success', stats: 'many' },
      { type: 'result', status: {}, error: [], stats: { input_tokens: '5' } },
    ),
  ).toEqual([
    { type: 'tool.start', id: '', name: '', input: null },
    { type: 'tool.end', id: '', ok: false, output: '' },
    { type: 'warning', text: '' },
    {
      ...{ type: 'result', ok: true, text: '' },
      usage: { costUsd: 0, inputTokens: 0, outputTokens: 0 },
    },
    {
      ...{ type: 'result', ok: false, text: '' },
      usage: { costUsd: 0, inputTokens: 0, outputTokens: 0 },
      failure: {
        kind: 'transient',
        message: 'The agent reported an error without details.',
      },
    },
  ]);
});

test('a line of five megabytes gives a small event', () => {
  const content = 'x'.repeat(5_000_000);
  const short = `${'x'.repeat(3_999)}…`;
  expect(
    parse(
      { type: 'tool_use', tool_id: 't1', tool_name: 'write_file', parameters: { content } },
      { type: 'tool_result', tool_id: 't1', status: 'success', output: content },
    ),
  ).toEqual([
    { type: 'tool.start', id: 't1', name: 'write_file', input: { content: short } },
    { type: 'tool.end', id: 't1', ok: true, output: short },
  ]);
});

test('an answer is told in pieces, then whole; the last one is the result', () => {
  const piece = (content: string) => ({ type: 'message', role: 'assistant', content, delta: true });
  const use = { type: 'tool_use', tool_id: 't1', tool_name: 'glob', parameters: {} };
  const events = parse(piece('I '), piece('look.'), use, piece('Do'), piece('ne.'), {
    type: 'result',
    status: 'success',
    stats: { input_tokens: 100, output_tokens: 20, total_tokens: 150 },
  });
  expect(events.filter((event) => event.type !== 'text' || event.delta !== true)).toEqual([
    { type: 'text', text: 'I look.' },
    { type: 'tool.start', id: 't1', name: 'glob', input: {} },
    { type: 'text', text: 'Done.' },
    {
      ...{ type: 'result', ok: true, text: 'Done.' },
      usage: { costUsd: 0, inputTokens: 100, outputTokens: 50 }, // Thoughts are in the total.
    },
  ]);
});

test.each([
  [{ type: 'policy_violation', message: 'Tool execution denied by policy.' }, 'any', true],
  [{ type: 'tool_not_registered', message: 'not found' }, 'run_shell_command', true],
  [{ type: 'tool_not_registered', message: 'not found' }, 'google_web_search', true],
  [{ type: 'tool_not_registered', message: 'not found' }, 'made_up', false],
  [
    {
      type: 'unhandled_exception',
      message: 'Tool execution for "Shell" requires user confirmation, which is not supported.',
    },
    'run_shell_command',
    true,
  ],
  [{ type: 'shell_execute_error', message: 'boom' }, 'run_shell_command', false],
])('an error %j of tool %s is a denial: %s', (error, tool_name, denied) => {
  const tools = { ...NO_OPTIONS.tools, disallowed: ['google_web_search'] };
  const parser = new StreamParser(jobOf({ options: { ...NO_OPTIONS, tools } }));
  const told = [
    { timestamp: AT, type: 'tool_use', tool_id: 't1', tool_name },
    { timestamp: AT, type: 'tool_result', tool_id: 't1', status: 'error', error },
  ].flatMap((fields) => parser.stdout(JSON.stringify(fields)));
  expect(told.slice(1)).toEqual([
    { type: 'tool.end', id: 't1', ok: false, output: error.message },
    ...(denied ? [{ type: 'denied', tool: tool_name, id: 't1' }] : []),
  ]);
});

test.each([
  ['Loop detected, stopping execution', 'stuck'],
  ['Maximum session turns exceeded', 'turns'],
])('a turn broken off with “%s” is no success', (message, kind) => {
  const [, result] = parse({ type: 'error', message }, { type: 'result', status: 'success' });
  expect(result).toMatchObject({
    ok: false,
    failure: { kind, message: `The agent was stopped: ${message}.` },
  });
});

test('a warning alone does not make a failure', () => {
  const message = 'Agent execution blocked: a hook said so';
  const [warning, result] = parse(
    { type: 'error', message },
    { type: 'result', status: 'success' },
  );
  expect(warning).toEqual({ type: 'warning', text: message });
  expect(result).toMatchObject({ ok: true });
});

const json = (code: number, message: string, details: readonly object[] = []) =>
  `[API Error: ${JSON.stringify({ error: { code, message, status: 'X', details } })}]`;
const ADVICE =
  '\nPlease wait and try again later. To increase your limits, request a quota increase';

test.each([
  ['unknown', json(401, 'No.'), { kind: 'auth', message: 'The service answered 401: No.' }],
  ['unknown', json(403, 'No.'), { kind: 'auth', message: 'The service answered 403: No.' }],
  ['unknown', json(400, 'Bad.'), { kind: 'permanent', message: 'The service answered 400: Bad.' }],
  [
    'unknown',
    json(400, 'Wrong.', [{ reason: 'API_KEY_INVALID' }]),
    { kind: 'auth', message: 'The service answered 400: Wrong.' },
  ],
  [
    'unknown',
    json(503, 'Busy.'),
    { kind: 'transient', message: 'The service answered 503: Busy.' },
  ],
  [
    'unknown',
    json(500, JSON.stringify({ error: { message: 'Inner.' } })),
    { kind: 'transient', message: 'The service answered 500: Inner.' },
  ],
  [
    'unknown',
    json(429, 'Check your plan and billing details.'),
    {
      kind: 'rate-limited',
      message: 'The service answered 429: Check your plan and billing details.',
    },
  ],
  [
    'unknown',
    json(400, 'This needs billing to be enabled.'),
    { kind: 'billing', message: 'The service answered 400: This needs billing to be enabled.' },
  ],
  [
    'unknown',
    `[API Error: Enough.\nSuggested retry after 3600s.]${ADVICE}`,
    {
      kind: 'rate-limited',
      message: 'The service answered 429: Enough.\nSuggested retry after 3600s.',
      retryAt: Date.parse(AT) + 3_600_000,
    },
  ],
  [
    'unknown',
    `[API Error: Enough. Please retry in 90500.5ms.]${ADVICE}`,
    {
      kind: 'rate-limited',
      message: 'The service answered 429: Enough. Please retry in 90500.5ms.',
      retryAt: Date.parse(AT) + 90_501,
    },
  ],
  ['FatalTurnLimitedError', '[API Error: Enough.]', { kind: 'turns', message: 'Enough.' }],
  ['FatalCancellationError', 'x', { kind: 'interrupted', message: 'x' }],
  ['unknown', '[API Error: {"error":]', { kind: 'transient', message: '{"error":' }],
] as const)('an error %s %s ends as what it is', (type, message, failure) => {
  const [result] = parse({ type: 'result', status: 'error', error: { type, message } });
  expect(result?.type === 'result' && result.failure).toEqual(failure);
});

test('a bad answer of the model is told before the result, which does not repeat it', () => {
  const end = { type: 'result', status: 'error' };
  const failureOf = (message: string) => {
    const result = parse({ type: 'error', severity: 'error', message }, end).at(-1);
    return result?.type === 'result' && result.failure;
  };
  const empty = 'The model returned an empty response with no text or thoughts.';
  const blocked = 'The model response was blocked due to safety settings.';
  expect(failureOf(empty)).toEqual({ kind: 'transient', message: empty });
  expect(failureOf(blocked)).toEqual({ kind: 'permanent', message: blocked });
});

test.each([
  [
    ['Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429'],
    { attempt: 1, delayMs: 5_000, failure: { kind: 'rate-limited' } },
  ],
  [
    ['Attempt 3 failed with status 503. Retrying with backoff... _ApiError: {', '    at x (y.js)'],
    { attempt: 3, delayMs: 20_000, failure: { kind: 'transient' } },
  ],
  [
    ['Attempt 9 failed. Retrying with backoff... Error: exception TypeError: fetch failed'],
    {
      attempt: 9,
      delayMs: 30_000,
      failure: { kind: 'transient', message: 'The service did not answer.' },
    },
  ],
  [
    ['Attempt 2 failed: Quota exceeded', 'Suggested retry after 1s.. Retrying after 5831ms...'],
    { attempt: 2, delayMs: 5_831, failure: { kind: 'rate-limited' } },
  ],
  [
    ['Attempt 1 failed with status 401. Retrying with backoff...'],
    { attempt: 1, delayMs: 5_000, failure: { kind: 'auth' } },
  ],
])('a retry is read from standard error: %j', (lines, retry) => {
  expect(stderr('YOLO mode is enabled.', ...lines)).toMatchObject([
    { type: 'retry', max: 10, ...retry },
  ]);
});

test('what only looks like a retry is none', () => {
  expect(
    stderr(
      'Attempt 10 failed: scripted 429. Max attempts reached',
      ...Array.from({ length: 30 }, (_, index) => `line ${index}`),
      'Retrying after 5ms',
      'Attempt x failed with status 500. Retrying with backoff...',
      'I made Attempt 1 failed. Retrying with backoff...',
    ),
  ).toEqual([]);
});

test('rules that the CLI did not heed are a warning', () => {
  const line = 'Security Warning: Ignoring --admin-policy because system policies are defined';
  const error = '[USER] Policy file error in task.toml:';
  expect(stderr(line, '  Schema validation failed', error)).toEqual([
    { type: 'warning', text: line },
    { type: 'warning', text: error },
  ]);
});
