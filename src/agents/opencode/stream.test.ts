/** Lines of OpenCode and of our reporter, one by one: those that hurt, and those that meet. */

import { expect, test } from 'vitest';
import type { AgentEvent } from '../../model/agent-event.ts';
import { StreamParser } from './stream.ts';

const ROOT = 'ses_root';

test.each([
  ['nothing', ''],
  ['a bare number', '123'],
  ['a bare string', '"text"'],
  ['null', 'null'],
  ['a list', '[{"sessionID":"s"}]'],
  ['half a line', '{"type":"text","sessionID":"ses_1","part":{"te'],
  ['prose', 'permission requested: bash (touch x); auto-rejecting'],
  ['an object of somebody else', '{"type":"result","ok":true}'],
  ['a wrong session', '{"type":"text","sessionID":7}'],
  ['bytes that were not UTF-8', '\ufffd\ufffd{"type":"text"}'],
])('%s is not of the stream', (_, line) => {
  const parser = new StreamParser();
  expect([parser.stdout(line), parser.stderr(line)]).toEqual([[], []]);
});

test.each([
  [
    'an unknown type',
    { type: 'brand_new', part: { a: 1 } },
    [{ type: 'activity', what: 'brand_new' }],
  ],
  ['no type', {}, [{ type: 'activity', what: '' }]],
  ['a tool without anything', { type: 'tool_use' }, nothingOfATool()],
  ['a text of the wrong kind', { type: 'text', part: { text: 5 } }, [{ type: 'text', text: '' }]],
])('%s is read without harm', (_, fields, expected) => {
  expect(heard().stdout(line(fields))).toEqual(expected);
});

test('deep and huge lines are read in bounded space', () => {
  const deep = `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`;
  const state = `{"status":"completed","input":${deep},"output":${JSON.stringify('x'.repeat(1e6))}}`;
  const text = `{"type":"tool_use","sessionID":"${ROOT}","part":{"callID":"c","state":${state}}}`;
  expect(JSON.stringify(heard().stdout(text)).length).toBeLessThan(10_000);
});

test('the session is told once, by whoever knows it first, and sub-agents have none', () => {
  const parser = new StreamParser();
  expect([
    parser.stderr(told('session', { session: ROOT, model: 'p/m', cwd: '/repo' })),
    parser.stdout(line({ type: 'step_start' })),
    parser.stderr(told('session', { session: 'ses_child', model: 'p/small' })),
  ]).toEqual([
    [{ type: 'session', id: ROOT, model: 'p/m', cwd: '/repo' }],
    [{ type: 'activity', what: 'step_start' }],
    [{ type: 'activity', what: 'session' }],
  ]);
});

test('a tool begins and ends once, in whatever order the two streams tell of it', () => {
  const input = { command: 'ls' };
  const began = told('tool', { session: ROOT, id: 'c1', name: 'bash', input });
  const ended = line({
    type: 'tool_use',
    part: { callID: 'c1', tool: 'bash', state: { status: 'completed', input, output: 'a' } },
  });
  const start = { type: 'tool.start', id: 'c1', name: 'bash', input };
  const end = { type: 'tool.end', id: 'c1', ok: true, output: 'a' };

  const early = heard();
  expect([early.stderr(began), early.stdout(ended)]).toEqual([[start], [end]]);
  const late = heard();
  expect([late.stdout(ended), late.stderr(began)]).toEqual([
    [start, end],
    [{ type: 'activity', what: 'tool' }],
  ]);
  const child = told('tool', { session: 'ses_child', id: 'c2', name: 'bash', input });
  expect(late.stderr(child)).toEqual([{ type: 'activity', what: 'sub-agent' }]);
});

test('what a sub-agent uses counts, and what the session uses counts once', () => {
  const tokens = { input: 10, output: 2, reasoning: 1, cache: { read: 5, write: 3 } };
  const parser = heard();
  const events = [
    ...parser.stderr(told('step', { session: 'ses_child', cost: 0.5, tokens })),
    ...parser.stderr(told('step', { session: ROOT, cost: 0.25, tokens })),
    ...parser.stdout(line({ type: 'step_finish', part: { reason: 'stop', cost: 0.25, tokens } })),
  ];
  const usage = { costUsd: 0.75, inputTokens: 36, outputTokens: 6 };
  expect(events).toEqual([
    { type: 'usage', usage: { costUsd: 0.5, inputTokens: 18, outputTokens: 3 } },
    { type: 'activity', what: 'step' },
    { type: 'usage', usage },
    { type: 'result', ok: true, text: '', usage, turns: 1 },
  ]);
});

test('a short wait is a retry', () => {
  const wait = { session: ROOT, attempt: 2, message: 'Overloaded', next: 5_000, delayMs: 4_000 };
  expect(heard().stderr(told('retry', wait))).toEqual([
    {
      type: 'retry',
      attempt: 2,
      max: 5,
      delayMs: 4_000,
      failure: { kind: 'transient', message: 'Overloaded' },
    },
  ]);
  expect(heard().stderr(told('retry', { ...wait, message: 'Too Many Requests' }))).toMatchObject([
    { failure: { kind: 'rate-limited', guessed: true } },
  ]);
});

test('a long wait ends the attempt with its end, and signs of life do not undo that', () => {
  const parser = heard();
  const next = 1_800_000_000_000;
  const wait = { session: ROOT, attempt: 1, message: 'Slow down', next, delayMs: 3_600_000 };
  expect(parser.stderr(told('retry', wait))).toMatchObject([
    { type: 'limit', status: 'rejected', resetsAt: next },
    {
      type: 'result',
      ok: false,
      failure: { kind: 'rate-limited', message: 'Slow down', retryAt: next },
    },
  ]);
  expect(parser.stderr(told('alive', {}))).toEqual([]);
  expect(parser.stderr(told('status', { session: ROOT, status: 'idle' }))).toEqual([]);
  expect(parser.stderr(told('status', { session: ROOT, status: 'busy' }))).toHaveLength(1);
  expect(parser.stderr(told('alive', {}))).toEqual([{ type: 'activity', what: 'alive' }]);
});

test.each([
  ['length', 'permanent', 'The answer exceeded the model’s maximum length.'],
  ['content-filter', 'permanent', 'The service refused to answer (content filter).'],
  ['other', 'transient', 'The model’s answer broke off (other).'],
])('a step that ends by %s is a failure', (reason, kind, message) => {
  const events = heard().stdout(line({ type: 'step_finish', part: { reason } }));
  expect(events.at(-1)).toMatchObject({ type: 'result', ok: false, failure: { kind, message } });
});

test.each([
  ['a name that says it', { name: 'ProviderAuthError', data: {} }, 'auth'],
  ['too much to read', { name: 'ContextOverflowError', data: { message: 'long' } }, 'permanent'],
  ['an empty account', api(400, { message: 'Your credit balance is too low' }), 'billing'],
  ['a used up quota', api(429, { responseBody: '{"code":"insufficient_quota"}' }), 'billing'],
  ['a forbidden answer', api(403, {}), 'auth'],
  ['nothing to pay with', api(402, {}), 'billing'],
  ['no answer', api(undefined, { isRetryable: true }), 'transient'],
  ['an unknown address', api(404, {}), 'permanent'],
  ['no error at all', undefined, 'transient'],
])('%s: the kind of failure is known', (_, error, kind) => {
  expect(heard().stdout(line({ type: 'error', error }))).toMatchObject([{ failure: { kind } }]);
});

test.each([
  [{ 'retry-after-ms': '1500' }, 1_500],
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, 50_000],
  [{ 'retry-after': 'soon' }, null],
  [{}, null],
])('a limit with the headers %j ends %s ms later', (responseHeaders, after) => {
  const error = api(429, { message: 'Busy', responseHeaders });
  const [event] = heard().stdout(line({ type: 'error', timestamp: 10_000, error }));
  expect(event?.type === 'result' && event.failure).toEqual({
    kind: 'rate-limited',
    message: 'Busy',
    ...(after !== null && { retryAt: 10_000 + after }),
  });
});

/** A parser that knows its session. */
function heard(): StreamParser {
  const parser = new StreamParser();
  parser.stderr(told('session', { session: ROOT }));
  return parser;
}

function line(fields: object): string {
  return JSON.stringify({ timestamp: 1, sessionID: ROOT, ...fields });
}

function told(landfast: string, fields: object): string {
  return JSON.stringify({ landfast, ...fields });
}

function api(statusCode: number | undefined, data: object): object {
  return { name: 'APIError', data: { statusCode, ...data } };
}

function nothingOfATool(): readonly AgentEvent[] {
  return [
    { type: 'tool.start', id: '', name: '', input: null },
    { type: 'tool.end', id: '', ok: false, output: '' },
  ];
}
