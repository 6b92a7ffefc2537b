/** The stream parser against lines no recording holds: hostile, odd, and of other versions. */

import { expect, test } from 'vitest';
import type { AgentEvent } from '../../model/agent-event.ts';
import { StreamParser } from './stream.ts';

function parse(...lines: readonly unknown[]): readonly AgentEvent[] {
  const parser = new StreamParser();
  return lines.flatMap((line) => parser.stdout(JSON.stringify(line)));
}

function line(fields: object): string {
  return JSON.stringify(fields);
}

const WORDS = { type: 'text', text: 'Hello' };

test.each([
  ['', 'an empty line'],
  ['Compiling…', 'prose'],
  ['123', 'a number'],
  ['null', 'null'],
  ['[]', 'a list'],
  ['"text"', 'a string'],
  ['{"type":"assistant","mess', 'half a line'],
  ['{"status":"FAILED","reason":"x"}', 'an object without a type'],
  ['{"type":"log","message":"x"}', 'another program’s JSON'],
  ['{"type":7,"session_id":7}', 'a type that is no text'],
  ['\uFFFD\uFFFD{\uFFFD', 'bytes that were no text'],
  ['['.repeat(200_000), 'a deep hole'],
])('%j is not of the stream: %s', (text) => {
  expect(new StreamParser().stdout(text)).toEqual([]);
});

test.each([
  [{ type: 'brand_new', session_id: 's1' }, 'brand_new'],
  [{ type: 'system', subtype: 'brand_new' }, 'brand_new'],
  [{ type: 'system' }, ''],
  [{ type: 'system', subtype: ['init'] }, ''],
  [{ type: 'system', subtype: 'init', session_id: 7 }, 'init'],
  [{ type: 'assistant' }, 'assistant'],
  [{ type: 'assistant', message: null }, 'assistant'],
  [{ type: 'assistant', message: { content: 'text' } }, 'assistant'],
  [{ type: 'assistant', message: { content: [null, 7, 'x', []] } }, 'assistant'],
  [{ type: 'user', message: { content: 'text' } }, 'user'],
  [{ type: 'user', message: [] }, 'user'],
  [{ type: 'rate_limit_event' }, 'rate_limit_event'],
  [{ type: 'rate_limit_event', rate_limit_info: { status: 'odd' } }, 'rate_limit_event'],
  [{ type: 'stream_event', event: { delta: { text: 'He' } } }, 'stream_event'],
  [{ type: 'stream_event', event: null }, 'stream_event'],
])('%j has no meaning for us but is a sign of life', (fields, what) => {
  expect(parse(fields)).toEqual([{ type: 'activity', what }]);
});

test('fields of a wrong type read as if they were absent', () => {
  expect(
    parse(
      { type: 'system', subtype: 'api_retry', attempt: 'x', error: {}, error_status: '401' },
      { type: 'system', subtype: 'permission_denied', tool_name: 7, tool_use_id: {} },
      { type: 'system', subtype: 'background_tasks_changed', tasks: 'many' },
      { type: 'assistant', message: { content: [{ type: 'tool_use', id: 7 }] } },
      { type: 'user', message: { content: [{ type: 'tool_result', content: 7, is_error: 'x' }] } },
      { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 'noon' } },
      { type: 'result', subtype: 'success', result: 7, usage: [], permission_denials: 'none' },
    ),
  ).toEqual([
    {
      ...{ type: 'retry', attempt: 0, max: 0, delayMs: 0 },
      failure: { kind: 'transient', message: 'The service did not answer.' },
    },
    { type: 'denied', tool: '' },
    { type: 'activity', what: 'background', background: 0 },
    { type: 'tool.start', id: '', name: '', input: null },
    { type: 'tool.end', id: '', ok: true, output: '' },
    { type: 'limit', status: 'rejected' },
    {
      ...{ type: 'result', ok: true, text: '', turns: 0 },
      usage: { costUsd: 0, inputTokens: 0, outputTokens: 0 },
    },
  ]);
});

test('a line of five megabytes gives a small event', () => {
  const content = 'x'.repeat(5_000_000);
  const [start] = parse({
    type: 'assistant',
    message: { content: [{ type: 'tool_use', id: 't1', name: 'Write', input: { content } }] },
  });
  const [end] = parse({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 't1', content }] },
  });
  const short = `${'x'.repeat(3_999)}…`;
  expect(start).toEqual({ type: 'tool.start', id: 't1', name: 'Write', input: { content: short } });
  expect(end).toEqual({ type: 'tool.end', id: 't1', ok: true, output: short });
});

test('a tool’s input of any depth can be written down', () => {
  const deep = `${'{"a":['.repeat(50_000)}1${']}'.repeat(50_000)}`;
  const start = line({ type: 'tool_use', id: 't1', name: 'Odd', input: 'HERE' });
  const text = `{"type":"assistant","message":{"content":[${start.replace('"HERE"', deep)}]}}`;
  const events = new StreamParser().stdout(text);
  expect(JSON.stringify(events)).toBe(
    '[{"type":"tool.start","id":"t1","name":"Odd","input":{"a":[{"a":[{"a":["…"]}]}]}}]',
  );
});

test('an object’s name for its prototype is a name like any other', () => {
  const input = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
  const block = { type: 'tool_use', id: 't1', name: 'Odd', input };
  const [event] = parse({ type: 'assistant', message: { content: [block] } });
  expect(JSON.stringify(event)).toContain('{"__proto__":{"polluted":true},"constructor":1}');
});

test('an error code that happens to name a method is just unknown', () => {
  const [event] = parse({ type: 'system', subtype: 'api_retry', error: 'constructor' });
  expect(event).toMatchObject({ failure: { kind: 'transient' } });
});

test('a sub-agent’s words are a sign of life, its tools are tools', () => {
  const tool = { type: 'tool_use', id: 't1', name: 'Read', input: {} };
  const message = { content: [WORDS, tool] };
  expect(parse({ type: 'assistant', parent_tool_use_id: 't0', message })).toEqual([
    { type: 'activity', what: 'sub-agent' },
    { type: 'tool.start', id: 't1', name: 'Read', input: {} },
  ]);
});

test('an API error from which the conversation recovered does not colour a later failure', () => {
  const broken = { type: 'assistant', error: 'authentication_failed', message: {} };
  const fine = { type: 'assistant', message: { content: [WORDS] } };
  const end = { type: 'result', subtype: 'success', is_error: true, result: 'Odd.' };
  expect(parse(broken, end).at(-1)).toMatchObject({ failure: { kind: 'auth' } });
  expect(parse(broken, fine, end).at(-1)).toMatchObject({ failure: { kind: 'transient' } });
  expect(parse({ ...broken, parent_tool_use_id: 't0' }, end).at(-1)).toMatchObject({
    failure: { kind: 'transient' },
  });
});

test('a limit that was lifted again gives no time to wait for', () => {
  const limit = (status: string) => ({
    type: 'rate_limit_event',
    rate_limit_info: { status, resetsAt: 1_794_778_288 },
  });
  const error = { type: 'assistant', error: 'rate_limit', message: {} };
  const end = { type: 'result', subtype: 'success', is_error: true, result: 'Limit.' };
  const failure = { kind: 'rate-limited', message: 'Limit.' };
  expect(parse(limit('rejected'), limit('allowed_warning'), error, end)).toMatchObject([
    { type: 'limit', status: 'rejected' },
    { type: 'limit', status: 'warning', resetsAt: 1_794_778_288_000 },
    { type: 'warning', text: 'rate_limit' },
    { failure },
  ]);
  const last = parse(limit('rejected'), limit('allowed_warning'), error, end).at(-1);
  expect(last?.type === 'result' && last.failure).toEqual(failure);
});

test('versions without a price per result give their totals', () => {
  const usage = { inputTokens: 5, outputTokens: 7, cacheReadInputTokens: 100, costUSD: 0.01 };
  const result = (total_cost_usd: number) => ({
    ...{ type: 'result', subtype: 'success', result: 'x', num_turns: 1 },
    ...{ total_cost_usd, modelUsage: { a: usage, b: usage } },
  });
  const expected = { costUsd: 0.05, inputTokens: 210, outputTokens: 14 };
  expect(parse(result(0.02), result(0.05)).at(-1)).toMatchObject({ usage: expected });
});
