/** The model APIs that the agents speak, as far as their CLIs need them. */

import { randomUUID } from 'node:crypto';
import { type Dialect, type Reply, type ServerSentEvent, TOKENS } from './scripted-api.ts';

/** Anthropic's Messages API. */
export const MESSAGES: Dialect = {
  smallTalk: 'Scripted.',
  read(path, raw, headers) {
    if (!path.startsWith('/v1/messages')) return null;
    if (path.includes('count_tokens')) {
      return { kind: 'answer', body: { input_tokens: Math.ceil(raw.length / 4) } };
    }
    const body = JSON.parse(raw) as Record<string, unknown>;
    const session = headers['x-claude-code-session-id'] ?? headers['x-session-id'] ?? '';
    const cwd = /(?:Primary working directory|CWD): ([^"\\\n]+)/.exec(raw)?.[1]?.trim() ?? '';
    const request = {
      session: String(session),
      model: String(body.model),
      cwd,
      conversation: JSON.stringify(body.messages),
      streams: body.stream === true,
      hasTools: hasEntries(body.tools),
      headers,
      body,
    };
    return { kind: 'turn', request };
  },
  whole: (reply, { model }) => ({
    ...messageHead(model),
    content: contentBlocks(reply),
    stop_reason: stopReason(reply),
    usage: MESSAGE_USAGE,
  }),
  stream: (reply, { model }) => [
    typed('message_start', { message: messageHead(model) }),
    ...contentBlocks(reply).flatMap((block, index) => {
      const { start, delta } = inPieces(block);
      return [
        typed('content_block_start', { index, content_block: start }),
        typed('content_block_delta', { index, delta }),
        typed('content_block_stop', { index }),
      ];
    }),
    typed('message_delta', {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { output_tokens: TOKENS.output },
    }),
    typed('message_stop', {}),
  ],
  opening: ({ model }) => [typed('message_start', { message: messageHead(model) })],
  error: ({ status, message, fields }) => ({
    type: 'error',
    error: { type: MESSAGE_ERRORS[status] ?? 'api_error', message, ...fields },
  }),
};

const MESSAGE_ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const MESSAGE_USAGE = {
  input_tokens: TOKENS.input,
  output_tokens: TOKENS.output,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

type Block =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: object;
    };

function contentBlocks({ text, tools }: Reply): readonly Block[] {
  const calls = tools.map(({ name, input }): Block => {
    return { type: 'tool_use', id: freshId('toolu'), name, input };
  });
  return text === '' ? calls : [{ type: 'text', text }, ...calls];
}

function inPieces(block: Block): { readonly start: object; readonly delta: object } {
  return block.type === 'text'
    ? { start: { ...block, text: '' }, delta: { type: 'text_delta', text: block.text } }
    : {
        start: { ...block, input: {} },
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
      };
}

function messageHead(model: string): object {
  return {
    id: freshId('msg'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...MESSAGE_USAGE, output_tokens: 1 },
  };
}

function stopReason({ tools }: Reply): string {
  return tools.length > 0 ? 'tool_use' : 'end_turn';
}

/** OpenAI's Responses API, always streamed. */
export const RESPONSES: Dialect = {
  smallTalk: 'Scripted.',
  read(path, raw, headers) {
    if (path !== '/v1/responses') return null;
    const body = JSON.parse(raw) as Record<string, unknown>;
    const request = {
      session: String(turnMetadata(headers).thread_id ?? ''),
      model: String(body.model),
      cwd: '',
      conversation: JSON.stringify(body.input),
      streams: true,
      hasTools: hasEntries(body.tools),
      headers,
      body,
    };
    return { kind: 'turn', request };
  },
  whole: (reply) => ({ object: 'response', output: outputItems(reply), usage: RESPONSE_USAGE }),
  stream: (reply) => {
    const head = { id: freshId('resp'), object: 'response' };
    const output = outputItems(reply);
    return [
      typed('response.created', { response: { ...head, status: 'in_progress', output: [] } }),
      ...output.flatMap((item, index) => [
        typed('response.output_item.added', { output_index: index, item }),
        typed('response.output_item.done', { output_index: index, item }),
      ]),
      typed('response.completed', {
        response: { ...head, status: 'completed', output, usage: RESPONSE_USAGE },
      }),
    ];
  },
  opening: () => {
    const response = { id: freshId('resp'), object: 'response', status: 'in_progress', output: [] };
    return [typed('response.created', { response })];
  },
  error: ({ message, fields }) => ({ error: { message, type: 'scripted', ...fields } }),
};

/** What Codex says of a turn: its thread and its sandbox. */
export function turnMetadata(
  headers: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return JSON.parse(String(headers['x-codex-turn-metadata'] ?? '{}'));
}

const RESPONSE_USAGE = {
  input_tokens: TOKENS.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: TOKENS.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: TOKENS.input + TOKENS.output,
};

function outputItems({ text, tools }: Reply): readonly object[] {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const message = { type: 'message', id: freshId('msg'), role: 'assistant', content };
  const calls = tools.map(({ input, ...named }) => ({
    type: 'function_call',
    id: freshId('fc'),
    call_id: freshId('call'),
    ...named,
    arguments: JSON.stringify(input),
  }));
  return text === '' ? calls : [{ ...message, status: 'completed' }, ...calls];
}

/** Google's generateContent API. The CLI names no session, but says where it works. */
export const GENERATE: Dialect = {
  smallTalk: '{}',
  read(path, raw, headers) {
    const [, model = '', method = ''] = /\/models\/([^:/?]+):(\w+)/.exec(path) ?? [];
    if (method === 'countTokens') {
      return { kind: 'answer', body: { totalTokens: Math.ceil(raw.length / 4) } };
    }
    if (!['streamGenerateContent', 'generateContent'].includes(method)) return null;
    const body = JSON.parse(raw) as Record<string, unknown>;
    const cwd = /\*\*Workspace Directories:\*\*\\n\s*- ([^"\\]+)/.exec(raw)?.[1] ?? '';
    const request = {
      session: cwd,
      model,
      cwd,
      conversation: JSON.stringify(body.contents),
      streams: path.includes('alt=sse'),
      hasTools: hasEntries(body.tools),
      headers,
      body,
    };
    return { kind: 'turn', request };
  },
  whole: (reply, { model }) => candidate(reply, model),
  stream: (reply, { model }) => [{ data: candidate(reply, model) }],
  opening: () => [],
  error: ({ status, message, fields }) => {
    const name = STATUS_NAMES[status] ?? 'INTERNAL';
    return { error: { code: status, message, status: name, details: [], ...fields } };
  },
};

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function candidate({ text, tools }: Reply, model: string): object {
  const calls = tools.map(({ name, input }) => ({ functionCall: { name, args: input } }));
  const parts = text === '' ? calls : [{ text }, ...calls];
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: TOKENS.input,
      candidatesTokenCount: TOKENS.output,
      totalTokenCount: TOKENS.input + TOKENS.output,
    },
    modelVersion: model,
  };
}

function typed(type: string, fields: object): ServerSentEvent {
  return { event: type, data: { type, ...fields } };
}

function hasEntries(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

function freshId(prefix: string): string {
  return `${prefix}_${randomUUID()}`;
}
