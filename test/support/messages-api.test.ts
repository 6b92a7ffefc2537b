/** The scripted Messages API itself, asked without a CLI. */

import { expect, test } from 'vitest';
import { after, bash, hang, httpError, say, startMessagesApi, write } from './messages-api.ts';

const BODY = {
  model: 'm1',
  tools: [{ name: 'Write' }],
  messages: [{ role: 'user', content: 'Primary working directory: /repo\n[[scenario:two]]' }],
};

test('each session has its own place in a scenario, and the last step repeats', async () => {
  await using api = await startMessagesApi({ scenarios: { two: [say('one'), say('two')] } });
  const url = api.baseUrl('two');
  expect(await said(url, 'a')).toBe('one');
  expect(await said(url, 'b')).toBe('one');
  expect(await said(api.url, 'a')).toBe('two');
  expect(await said(url, 'a')).toBe('two');
  expect(api.requests.map(({ session, index }) => [session, index])).toEqual([
    ...[
      ['a', 0],
      ['b', 0],
      ['a', 1],
      ['a', 2],
    ],
  ]);
});

test('a tool’s input names the directory the CLI works in', async () => {
  await using api = await startMessagesApi({
    scenarios: { w: [write('a.txt', 'x'), bash('ls {{cwd}}')] },
  });
  const answers = [await ask(api.baseUrl('w')), await ask(api.baseUrl('w'))];
  const bodies = await Promise.all(answers.map(bodyOf));
  expect(bodies.map(({ content, stop_reason }) => [content[0]?.input, stop_reason])).toEqual([
    [{ file_path: '/repo/a.txt', content: 'x' }, 'tool_use'],
    [{ command: 'ls /repo', description: 'scripted' }, 'tool_use'],
  ]);
});

test('an answer is streamed where a stream was asked for', async () => {
  await using api = await startMessagesApi({ scenarios: { s: [say('hi')] } });
  const text = await (await ask(api.baseUrl('s'), { ...BODY, stream: true })).text();
  expect(text.match(/^event: .*/gm)).toEqual([
    'event: message_start',
    'event: content_block_start',
    'event: content_block_delta',
    'event: content_block_stop',
    'event: message_delta',
    'event: message_stop',
  ]);
});

test('errors carry their status and headers, and an unknown scenario is one', async () => {
  await using api = await startMessagesApi({
    scenarios: { busy: [httpError(429, { 'retry-after': '7' })] },
  });
  const busy = await ask(api.baseUrl('busy'));
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7']);
  expect((await bodyOf(busy)).error.type).toBe('rate_limit_error');
  expect((await ask(api.baseUrl('bsy'))).status).toBe(400);
});

test('a request without tools is answered and uses up no step', async () => {
  await using api = await startMessagesApi({ scenarios: { s: [say('step')] } });
  expect((await ask(api.baseUrl('s'), { ...BODY, tools: [] })).status).toBe(200);
  expect(api.requests).toEqual([]);
});

test('a step waits to be told, and a test may wait for its request', async () => {
  const told = Promise.withResolvers<void>();
  await using api = await startMessagesApi({ scenarios: { s: [after(told.promise, say('go'))] } });
  const answer = said(api.baseUrl('s'), 'a');
  expect((await api.requested('s', 0)).session).toBe('a');
  told.resolve();
  expect(await answer).toBe('go');
});

test('a tool that runs rings a bell, and a test may wait for it', async () => {
  await using api = await startMessagesApi({ scenarios: { s: [bash('curl {{api}}/ring/here')] } });
  const { content } = await bodyOf(await ask(api.baseUrl('s')));
  expect(content[0]?.input).toMatchObject({ command: `curl ${api.url}/ring/here` });
  const rung = api.rung('here');
  await fetch(`${api.url}/ring/here`);
  await rung;
});

test('an answer that hangs ends with the API', async () => {
  const api = await startMessagesApi({ scenarios: { h: [hang('headers')] } });
  const answer = ask(api.baseUrl('h')).catch(() => 'cut');
  await api.requested('h', 0);
  await api[Symbol.asyncDispose]();
  expect(await answer).toBe('cut');
});

function ask(url: string, body: object = BODY, session = 'a'): Promise<Response> {
  const headers = { 'x-claude-code-session-id': session };
  const method = 'POST';
  return fetch(`${url}/v1/messages?beta=true`, { method, headers, body: JSON.stringify(body) });
}

async function said(url: string, session: string): Promise<string> {
  const { content } = await bodyOf(await ask(url, BODY, session));
  return content[0]?.text ?? '';
}

interface Answer {
  readonly content: readonly { readonly text?: string; readonly input?: object }[];
  readonly stop_reason: string;
  readonly error: { readonly type: string };
}

async function bodyOf(response: Response): Promise<Answer> {
  return (await response.json()) as Answer;
}
