/**
 * A scripted Messages API on 127.0.0.1: the model's side of a conversation, written down in a test.
 *
 *   await using api = await startMessagesApi({
 *     scenarios: { users: [write('a.txt', 'x'), bash('git add -A'), say('done')] },
 *   });
 *   claudeEnv(home, api.baseUrl('users'))     // chosen by the address: <url>/s/<scenario>
 *   'Add users. [[scenario:users]]'           // or by a marker in the prompt, with `api.url`
 *
 *   M1. A scenario is a list of steps, one per request of the model; the last one repeats.
 *   M2. Each session has its own place in a scenario: many agents may play the same one at once,
 *       and a resumed session goes on where it stopped.
 *   M3. Requests without tools (titles, summaries) are answered and use up no step.
 *   M4. An unknown scenario is an error of the API, so that a misspelt test fails.
 *   M5. A tool that runs can tell the test so: it rings a bell at `{{api}}/ring/<name>`.
 */

import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

/** What the model does when it is asked. */
export type Step =
  | { readonly kind: 'reply'; readonly text: string; readonly tools: readonly ToolCall[] }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly message: string;
    }
  /** Never answers, or begins an answer and falls silent. */
  | { readonly kind: 'hang'; readonly where: 'headers' | 'stream' }
  /** Waits to be told, then does the step. */
  | { readonly kind: 'after'; readonly ready: Promise<unknown>; readonly step: Step };

/**
 * A tool the model wants to use. In its input `{{cwd}}` becomes the CLI's working directory and
 * `{{api}}` the address of this API.
 */
export interface ToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A list of steps, or a function where the answer depends on the request. */
export type Scenario = readonly Step[] | ((request: ApiRequest) => Step);

/** One request for a step, as it came. */
export interface ApiRequest {
  readonly scenario: string;
  readonly session: string;
  /** How many requests of this session for this scenario came before. */
  readonly index: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: RequestBody;
}

/** The part of a request's body that tests look at. */
export interface RequestBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly unknown[];
}

/** A running API. Leaving the scope ends it, with every open answer. */
export interface MessagesApi extends AsyncDisposable {
  readonly url: string;
  /** Every request for a step, in order of arrival. */
  readonly requests: readonly ApiRequest[];
  baseUrl(scenario: string): string;
  /** Resolves when a scenario's request number `index` has come, in whatever session. */
  requested(scenario: string, index: number): Promise<ApiRequest>;
  /** Resolves when a tool has rung the bell of that name. */
  rung(bell: string): Promise<void>;
}

/** The model says something and ends its turn. */
export function say(text: string): Step {
  return { kind: 'reply', text, tools: [] };
}

/** The model uses a tool. */
export function tool(name: string, input: ToolCall['input']): Step {
  return { kind: 'reply', text: '', tools: [{ name, input }] };
}

/** The model writes a file, named relative to the CLI's working directory. */
export function write(path: string, content: string): Step {
  return tool('Write', { file_path: path.startsWith('/') ? path : `{{cwd}}/${path}`, content });
}

/** The model runs a command. */
export function bash(command: string): Step {
  return tool('Bash', { command, description: 'scripted' });
}

/** The model runs a command that rings a bell and then does not end by itself. */
export function bashForever(bell: string): Step {
  return bash(`node -e "fetch('{{api}}/ring/${bell}'); setTimeout(() => {}, 600000)"`);
}

/** The API answers with an error. */
export function httpError(status: number, headers: Record<string, string> = {}): Step {
  return { kind: 'error', status, headers, message: `scripted ${status}` };
}

/** The API falls silent, before or within its answer. */
export function hang(where: 'headers' | 'stream' = 'stream'): Step {
  return { kind: 'hang', where };
}

/** The API answers only when told to. */
export function after(ready: Promise<unknown>, step: Step): Step {
  return { kind: 'after', ready, step };
}

/** Starts an API that plays these scenarios. */
export async function startMessagesApi(options: {
  readonly scenarios: Readonly<Record<string, Scenario>>;
}): Promise<MessagesApi> {
  const script = new Script(new Map(Object.entries(options.scenarios)));
  const server = createServer((request, response) => {
    answer(script, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests: script.requests,
    baseUrl: (scenario) => `${url}/s/${scenario}`,
    requested: (scenario, index) => script.requested(scenario, index),
    rung: (bell) => script.rung(bell),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Where every session stands in its scenario, and what tools have told. */
class Script {
  readonly requests: ApiRequest[] = [];
  readonly #scenarios: ReadonlyMap<string, Scenario>;
  readonly #bells = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(scenarios: ReadonlyMap<string, Scenario>) {
    this.#scenarios = scenarios;
  }

  next(request: Omit<ApiRequest, 'index'>): Step {
    const { scenario, session } = request;
    const index = this.#of(scenario).filter((earlier) => earlier.session === session).length;
    const numbered = { ...request, index };
    this.requests.push(numbered);
    this.#changed();
    const steps = this.#scenarios.get(scenario);
    if (typeof steps === 'function') return steps(numbered);
    const step = steps?.[Math.min(index, steps.length - 1)];
    return step ?? { ...ERROR, message: `there is no scenario "${scenario}"` };
  }

  ring(bell: string): void {
    this.#bells.add(bell);
    this.#changed();
  }

  async requested(scenario: string, index: number): Promise<ApiRequest> {
    for (;;) {
      const request = this.#of(scenario)[index];
      if (request !== undefined) return request;
      await this.#change();
    }
  }

  async rung(bell: string): Promise<void> {
    while (!this.#bells.has(bell)) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #of(scenario: string): readonly ApiRequest[] {
    return this.requests.filter((request) => request.scenario === scenario);
  }
}

const ERROR = { kind: 'error', status: 400, headers: {} } as const;

async function answer(script: Script, request: IncomingMessage, response: ServerResponse) {
  const raw = await readText(request);
  const [, named, path = ''] = /^(?:\/s\/([^/?]+))?(.*)$/.exec(request.url ?? '') ?? [];
  if (request.method === 'HEAD') return void response.end(); // Older CLIs look who is there.
  if (path.startsWith('/ring/')) {
    script.ring(path.slice('/ring/'.length));
    return void response.end();
  }
  if (request.method !== 'POST' || !path.startsWith('/v1/messages')) {
    return sendJson(response, 404, errorBody(404, `nothing at ${path}`));
  }
  if (path.includes('count_tokens')) {
    return sendJson(response, 200, { input_tokens: Math.ceil(raw.length / 4) });
  }
  const body = JSON.parse(raw) as RequestBody;
  const asked: Asked = { raw, body, api: `http://${request.headers.host}` };
  if (!body.tools?.length) return reply(response, say('Scripted.'), asked);
  const step = script.next({
    scenario: named ?? /\[\[scenario:([\w.-]+)\]\]/.exec(raw)?.[1] ?? '',
    session: String(request.headers['x-claude-code-session-id'] ?? ''),
    headers: request.headers,
    body,
  });
  await reply(response, step, asked);
}

interface Asked {
  readonly raw: string;
  readonly body: RequestBody;
  readonly api: string;
}

async function reply(response: ServerResponse, step: Step, asked: Asked): Promise<void> {
  switch (step.kind) {
    case 'after':
      await step.ready;
      return reply(response, step.step, asked);
    case 'error':
      return sendJson(response, step.status, errorBody(step.status, step.message), step.headers);
    case 'hang':
      if (step.where === 'stream') sendEvent(response, 'message_start', { message: head(asked) });
      return;
    case 'reply':
      return asked.body.stream
        ? sendStream(response, step, asked)
        : sendWhole(response, step, asked);
  }
}

type Reply = Step & { readonly kind: 'reply' };

/** What the CLI asks for when a stream has failed. */
function sendWhole(response: ServerResponse, step: Reply, asked: Asked): void {
  const message = { ...head(asked), content: contentOf(step, asked) };
  sendJson(response, 200, { ...message, stop_reason: stopReason(step), usage: USAGE });
}

function sendStream(response: ServerResponse, step: Reply, asked: Asked): void {
  sendEvent(response, 'message_start', { message: head(asked) });
  for (const [index, block] of contentOf(step, asked).entries()) {
    const [start, delta] =
      block.type === 'text'
        ? [
            { ...block, text: '' },
            { type: 'text_delta', text: block.text },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          ];
    sendEvent(response, 'content_block_start', { index, content_block: start });
    sendEvent(response, 'content_block_delta', { index, delta });
    sendEvent(response, 'content_block_stop', { index });
  }
  const delta = { stop_reason: stopReason(step), stop_sequence: null };
  sendEvent(response, 'message_delta', { delta, usage: { output_tokens: USAGE.output_tokens } });
  sendEvent(response, 'message_stop', {});
  response.end();
}

type Block =
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'tool_use'; readonly id: string } & ToolCall);

function contentOf(step: Reply, { raw, api }: Asked): readonly Block[] {
  // The CLI tells the model where it works, so scripts need no paths.
  const cwd = /(?:Primary working directory|CWD): ([^"\\\n]+)/.exec(raw)?.[1]?.trim() ?? '';
  const quoted = JSON.stringify(cwd).slice(1, -1);
  const tools = step.tools.map(({ name, input }): Block => {
    const filled = JSON.stringify(input).replaceAll('{{cwd}}', quoted).replaceAll('{{api}}', api);
    return { type: 'tool_use', id: freshId('toolu'), name, input: JSON.parse(filled) };
  });
  return step.text === '' ? tools : [{ type: 'text', text: step.text }, ...tools];
}

function head({ body }: Asked) {
  return {
    id: freshId('msg'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...USAGE, output_tokens: 1 },
  };
}

function stopReason(step: Reply): string {
  return step.tools.length > 0 ? 'tool_use' : 'end_turn';
}

function sendEvent(response: ServerResponse, type: string, fields: object): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}

function sendJson(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function errorBody(status: number, message: string): object {
  return { type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } };
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const USAGE = {
  input_tokens: 100,
  output_tokens: 20,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

let ids = 0;

function freshId(prefix: string): string {
  ids += 1;
  return `${prefix}_${String(ids).padStart(6, '0')}`;
}
