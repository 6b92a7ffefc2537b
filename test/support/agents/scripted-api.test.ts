/** The scripted API itself, asked without a CLI, in the dialect of the Messages API. */

import { expect, test } from 'vitest';
import { MESSAGES } from './dialects.ts';
import { CLAUDE } from './real-agents.ts';
import {
  after,
  hang,
  httpError,
  type Scenarios,
  type ScriptedApi,
  say,
  startScriptedApi,
} from './scripted-api.ts';

const { shell, write } = CLAUDE;
const start = (scenarios: Scenarios) => startScriptedApi(MESSAGES, scenarios);

test('each session has its own place in a scenario, and the last step repeats', async () => {
  await using api = await start({ two: [say('one'), say('two')] });
  expect(await said(api, 'two', 'a')).toBe('one');
  expect(await said(api, 'two', 'b')).toBe('one');
  expect(await said(api, 'two', 'a')).toBe('two');
  expect(await said(api, 'two', 'a')).toBe('two');
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
  await using api = await start({ w: [write('a.txt', 'x'), shell('ls {{cwd}}')] });
  const answers = [await ask(api, 'w'), await ask(api, 'w')];
  const bodies = await Promise.all(answers.map(bodyOf));
  expect(bodies.map(({ content, stop_reason }) => [content[0]?.input, stop_reason])).toEqual([
    [{ file_path: '/repo/a.txt', content: 'x' }, 'tool_use'],
    [{ command: 'ls /repo', description: 'scripted' }, 'tool_use'],
  ]);
});

test('an answer is streamed where a stream was asked for', async () => {
  await using api = await start({ s: [say('hi')] });
  const text = await (await ask(api, 's', { stream: true })).text();
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
  await using api = await start({ busy: [httpError(429, { headers: { 'retry-after': '7' } })] });
  const busy = await ask(api, 'busy');
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7']);
  expect((await bodyOf(busy)).error.type).toBe('rate_limit_error');
  expect((await ask(api, 'bsy')).status).toBe(400);
});

test('a request without tools is answered and uses up no step', async () => {
  await using api = await start({ s: [say('step')] });
  expect((await ask(api, 's', { tools: [] })).status).toBe(200);
  expect(api.requests).toEqual([]);
});

test('a step waits for its promise, and a test may wait for its request', async () => {
  const told = Promise.withResolvers<void>();
  await using api = await start({ s: [after(told.promise, say('go'))] });
  const answer = said(api, 's', 'a');
  expect((await api.requested('s', 0)).session).toBe('a');
  told.resolve();
  expect(await answer).toBe('go');
});

test('a tool that runs rings a bell, and a test may wait for it', async () => {
  await using api = await start({ s: [shell('curl {{api}}/ring/here')] });
  const { content } = await bodyOf(await ask(api, 's'));
  expect(content[0]?.input).toMatchObject({ command: `curl ${api.url}/ring/here` });
  const rung = api.rung('here');
  await fetch(`${api.url}/ring/here`);
  await rung;
});

test('an answer that hangs ends with the API', async () => {
  const api = await start({ h: [hang('headers')] });
  const answer = ask(api, 'h').catch(() => 'cut');
  await api.requested('h', 0);
  await api[Symbol.asyncDispose]();
  expect(await answer).toBe('cut');
});

function ask(
  { url }: ScriptedApi,
  scenario: string,
  more: object = {},
  session = 'a',
): Promise<Response> {
  const content = `Primary working directory: /repo\n[[scenario:${scenario}]]`;
  const tools = [{ name: 'Write' }];
  const body = { model: 'm1', tools, messages: [{ role: 'user', content }], ...more };
  return fetch(`${url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'x-claude-code-session-id': session },
    body: JSON.stringify(body),
  });
}

async function said(api: ScriptedApi, scenario: string, session: string): Promise<string> {
  const { content } = await bodyOf(await ask(api, scenario, {}, session));
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
