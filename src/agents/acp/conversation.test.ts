/** Our side of the protocol, against agents of every kind, hostile ones too. */

import { expect, test } from 'vitest';
import { CHOICES, endOf, permission, Talk } from '../../../test/support/acp-talk.ts';

const LOADABLE = { loadSession: true };

test('initialize, a session in the workspace, the prompt, and its answer', () => {
  const talk = new Talk({ cwd: '/repo', prompt: '# Do it\n' });
  talk.begin({}, LOADABLE);
  expect(talk.conversation.isOver()).toBe(false);
  talk.answer({ stopReason: 'end_turn' });

  expect(talk.said).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: 1,
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
        },
      },
    },
    {
      ...{ jsonrpc: '2.0', id: 2, method: 'session/new' },
      params: { cwd: '/repo', mcpServers: [] },
    },
    {
      ...{ jsonrpc: '2.0', id: 3, method: 'session/prompt' },
      params: { sessionId: 's1', prompt: [{ type: 'text', text: '# Do it\n' }] },
    },
  ]);
  expect(talk.meant).toEqual([
    { type: 'session', id: 's1' },
    { type: 'result', ok: true, text: '' },
  ]);
  expect(talk.conversation.isOver()).toBe(true);
});

test('a session is loaded where the agent can; its past is not the work of this attempt', () => {
  const talk = new Talk({ resume: 's1' }).answer({
    protocolVersion: 1,
    agentCapabilities: LOADABLE,
  });
  talk.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Old.' } });
  talk.update({ sessionUpdate: 'tool_call', toolCallId: 't', status: 'completed' });
  talk.update(cost(0.5));
  talk.answer({});
  talk.update(cost(0.75));
  talk.answer({ stopReason: 'end_turn' });

  expect(talk.said[1]).toMatchObject({
    method: 'session/load',
    params: { sessionId: 's1', cwd: '/repo', mcpServers: [] },
  });
  const usage = { costUsd: 0.25, inputTokens: 0, outputTokens: 0 };
  expect(talk.meant).toEqual([
    { type: 'session', id: 's1' },
    { type: 'usage', usage },
    { type: 'result', ok: true, text: '', usage },
  ]);
});

test('an agent that can only resume without its past is asked for that', () => {
  const talk = new Talk({ resume: 's1' }).begin({}, { sessionCapabilities: { resume: {} } });
  expect(talk.methods).toEqual(['initialize', 'session/resume', 'session/prompt']);
});

test('money of a session whose past is not told is not known, and not made up', () => {
  const talk = new Talk({ resume: 's1' }).begin({}, LOADABLE).update(cost(0.75));
  talk.answer({ stopReason: 'end_turn', usage: { inputTokens: 7, outputTokens: 2 } });
  expect(talk.events.at(-1)).toMatchObject({
    usage: { costUsd: 0, inputTokens: 7, outputTokens: 2 },
  });
});

test('a session that no agent could load again is not told, and cannot be resumed', () => {
  expect(new Talk().begin().meant).toEqual([]);
  const talk = new Talk({ resume: 's1' }).answer({ protocolVersion: 1 });
  expect(endOf(talk)).toEqual({
    kind: 'session-lost',
    message: 'The agent cannot load an earlier session.',
  });
  expect(talk.methods).toEqual(['initialize']);
});

test.each([
  [{ code: -32603, message: 'Internal error', data: { details: 'No session' } }, 'session-lost'],
  [{ code: -32002, message: 'Resource not found' }, 'session-lost'],
  [{ code: -32000, message: 'Authentication required' }, 'auth'],
  [{ code: 429, message: 'Enough' }, 'rate-limited'],
])('an error of loading a session, %j, is %s', (error, kind) => {
  const talk = new Talk({ resume: 's1' }).answer({
    protocolVersion: 1,
    agentCapabilities: LOADABLE,
  });
  expect(endOf(talk.fail(error))).toMatchObject({ kind });
});

test('an agent of another version of the protocol is not worked with', () => {
  expect(endOf(new Talk().answer({ protocolVersion: 2 }))).toEqual({
    kind: 'permanent',
    message: 'The agent cannot be used. It speaks version 2 of the protocol, not 1.',
  });
});

test.each(['fs/read_text_file', 'terminal/create', '_vendor/ask', ''])(
  'a request for %j is answered: there is no such method',
  (method) => {
    const talk = new Talk().begin().tell({ id: 'x', method, params: { sessionId: 's1' } });
    expect(talk.said.at(-1)).toEqual({
      ...{ jsonrpc: '2.0', id: 'x' },
      error: { code: -32601, message: 'Method not found' },
    });
  },
);

// biome-ignore format: a table is read by its rows
test.each([
  [{ code: -32603, message: 'x', data: { errorKind: 'rate_limit' } }, { kind: 'rate-limited', message: 'x' }],
  [{ code: -32603, message: 'x', data: { errorKind: 'authentication_failed' } }, { kind: 'auth', message: 'x' }],
  [{ code: -32603, message: 'x', data: { errorKind: 'billing_error' } }, { kind: 'billing', message: 'x' }],
  [{ code: -32000, message: 'Authentication required' }, { kind: 'auth', message: 'Authentication required' }],
  [{ code: 429, message: 'Enough' }, { kind: 'rate-limited', message: 'Enough' }],
  [{ code: 401, message: 'Who?' }, { kind: 'auth', message: 'Who?' }],
  [{ code: 400, message: 'Bad' }, { kind: 'permanent', message: 'Bad' }],
  [{ code: 400, message: '{"error":{"message":"API key not valid."}}' }, { kind: 'auth', message: 'API key not valid.' }],
  [{ code: 503, message: 'authentication service is busy' }, { kind: 'transient', message: 'authentication service is busy' }],
  [{ code: -32601, message: 'Method not found' }, { kind: 'permanent', message: 'Method not found' }],
  [{ code: -32603, message: 'Internal error', data: { details: 'too many requests' } }, { kind: 'rate-limited', message: 'Internal error: too many requests', guessed: true }],
  [{ code: -32603, message: 'Internal error', data: 'boom' }, { kind: 'transient', message: 'Internal error: boom' }],
  [{}, { kind: 'transient', message: 'The agent reported an error.' }],
  [{ code: 'x', message: {}, data: [] }, { kind: 'transient', message: 'The agent reported an error.' }],
])('the error %j in answer to the prompt', (error, failure) => {
  const talk = new Talk().begin().fail(error);
  expect(endOf(talk)).toEqual(failure);
  expect(talk.conversation.isOver()).toBe(true);
});

test.each([
  ['max_tokens', 'permanent'],
  ['max_turn_requests', 'turns'],
  ['refusal', 'permanent'],
  ['cancelled', 'interrupted'],
  ['brand_new', 'transient'],
  [undefined, 'transient'],
])('a turn that stops for %j is no success', (stopReason, kind) => {
  expect(endOf(new Talk().begin().answer({ stopReason }))).toMatchObject({ kind });
});

test('words come in pieces and whole, and the last message is the answer', () => {
  const talk = new Talk().begin();
  for (const [messageId, text] of [
    ['m1', 'Fir'],
    ['m1', 'st.'],
    ['m2', 'Second.'],
  ]) {
    talk.update({ sessionUpdate: 'agent_message_chunk', messageId, content: { text } });
  }
  talk.update({ sessionUpdate: 'agent_thought_chunk', content: { text: 'Hm.' } });
  talk.answer({ stopReason: 'end_turn' });
  expect(talk.meant).toEqual([
    { type: 'text', text: 'Fir', delta: true },
    { type: 'text', text: 'st.', delta: true },
    { type: 'text', text: 'First.' },
    { type: 'text', text: 'Second.', delta: true },
    { type: 'text', text: 'Second.' },
    { type: 'thinking' },
    { type: 'result', ok: true, text: 'Second.' },
  ]);
});

test('a tool is told once, when it is known what it runs with', () => {
  const talk = new Talk().begin();
  const call = { toolCallId: 't1', kind: 'execute', title: 'bash' };
  talk.update({ sessionUpdate: 'tool_call', ...call, status: 'pending', rawInput: { cwd: '/' } });
  expect(talk.meant).toEqual([]);
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 't1' };
  talk.update({ ...update, rawInput: { command: 'ls' } }).update({ ...update, title: 'ls' });
  talk.update({ ...update, status: 'in_progress' });
  talk.update({ ...update, status: 'completed', rawOutput: { exit: 0 } });
  talk.update({ ...update, status: 'completed' });
  expect(talk.meant).toEqual([
    { type: 'tool.start', id: 't1', name: 'execute', input: { command: 'ls' } },
    { type: 'tool.end', id: 't1', ok: true, output: '{"exit":0}' },
  ]);
});

test('updates of another session are signs of life only', () => {
  const update = { sessionUpdate: 'agent_message_chunk', content: { text: 'Me too.' } };
  const params = { sessionId: 'other', update };
  const talk = new Talk().begin().tell({ method: 'session/update', params });
  expect(talk.meant).toEqual([]);
  expect(talk.events.at(-1)).toEqual({ type: 'activity', what: 'agent_message_chunk' });
});

test.each([
  ['', 'an empty line'],
  ['Starting…', 'prose'],
  ['123', 'a number'],
  ['null', 'null'],
  ['[{"jsonrpc":"2.0"}]', 'a list'],
  ['{"jsonrpc":"2.0","id":1,"resu', 'half a line'],
  ['{"type":"result"}', 'another program’s JSON'],
  ['{"jsonrpc":"1.0","id":1,"result":{}}', 'another protocol'],
  ['\uFFFD\uFFFD{\uFFFD', 'bytes that were no text'],
  ['['.repeat(200_000), 'a deep hole'],
  [`{"jsonrpc":"2.0","x":${'['.repeat(200_000)}`, 'a deep hole in a message'],
])('%j is not of the protocol: %s', (line) => {
  const talk = new Talk();
  expect(talk.conversation.stdout(line)).toEqual([]);
  expect(talk.conversation.replies()).toEqual([]);
  expect(talk.conversation.stderr()).toEqual([]);
});

const NONSENSE: readonly unknown[] = [null, 7, 'x', [], {}, [[]], { id: {} }];

test('messages of a wrong form mean nothing, and none of them ends the conversation', () => {
  for (const value of NONSENSE) {
    const talk = new Talk().begin();
    talk.tell({ id: value }).tell({ id: 99, result: value }).tell({ method: 'x', params: value });
    talk.tell({ method: 'session/update', params: value }).update(fields(value));
    for (const sessionUpdate of KINDS) {
      talk.update({ sessionUpdate, content: value, cost: value, rawInput: value, status: value });
      const odd = { toolCallId: value, messageId: value, locations: value, kind: value };
      talk.update({ sessionUpdate, ...odd, title: value, status: 'completed' });
    }
    talk.tell({ id: value, method: 'session/request_permission', params: value });
    talk.tell({ id: value, method: 'session/request_permission', params: { toolCall: value } });
    expect(talk.conversation.isOver()).toBe(false);
    talk.tell({ id: 3, result: value });
    expect(endOf(talk)).toMatchObject({ kind: 'transient' });
  }
});

test('what an agent opens a session with may be nonsense', () => {
  for (const value of NONSENSE) {
    const talk = new Talk({ permissions: 'default' });
    talk.begin(
      { modes: value, models: value, configOptions: [value, { category: 'mode' }] },
      { sessionCapabilities: value, mcpCapabilities: value },
    );
    expect(talk.methods).toEqual(['initialize', 'session/new', 'session/prompt']);
  }
});

test('a huge message is cut to what is worth keeping', () => {
  const talk = new Talk().begin();
  const huge = 'x'.repeat(5_000_000);
  const call = { toolCallId: 't1', kind: huge, title: huge, rawInput: { huge }, rawOutput: huge };
  talk.update({ sessionUpdate: 'tool_call', ...call, status: 'completed' });
  talk.tell(permission({ toolCallId: 't2', title: huge, rawInput: { huge } }, CHOICES));
  talk.fail({ code: 1, message: huge });
  expect(JSON.stringify(talk.events).length).toBeLessThan(20_000);
});

const KINDS = [
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
].concat('usage_update', 'plan', 'available_commands_update', 'current_mode_update', 'brand_new');

function fields(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function cost(amount: number): object {
  return { sessionUpdate: 'usage_update', used: 1, cost: { amount, currency: 'USD' } };
}
