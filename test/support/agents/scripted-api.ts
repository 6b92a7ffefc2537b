/**
 * A scripted model API on 127.0.0.1: the model's side of a conversation, written down in a test.
 *
 *   await using api = await startScriptedApi(MESSAGES, {
 *     users: [toolCall('Bash', { command: 'git add -A' }), say('done')],
 *   });
 *
 * A prompt with the marker `[[scenario:users]]` plays that scenario. The APIs of the vendors differ
 * only in their dialect (dialects.ts).
 *
 *   A1. A scenario is a list of steps, one per model request; the last one repeats.
 *   A2. Each session has its own place in a scenario: many agents may play the same one at once,
 *       and a resumed session continues where it stopped.
 *   A3. Requests without tools (titles, routing, summaries) are answered and use up no step.
 *   A4. An unknown scenario is an API error, so that a misspelt test fails.
 *   A5. A tool can signal the test while it runs: it rings a bell at `{{api}}/ring/<name>`.
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
  | Reply
  | ErrorStep
  /** Never answers, or starts an answer and falls silent. */
  | { readonly kind: 'hang'; readonly where: 'headers' | 'stream' }
  /** Waits for the promise, then does the step. */
  | { readonly kind: 'after'; readonly ready: Promise<unknown>; readonly step: Step };

export interface Reply {
  readonly kind: 'reply';
  readonly text: string;
  readonly tools: readonly ToolCall[];
}

export interface ErrorStep {
  readonly kind: 'error';
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Further fields of the error's body. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * A tool the model wants to use. In its input `{{cwd}}` becomes the CLI's working directory and
 * `{{api}}` the address of this API.
 */
export interface ToolCall {
  readonly name: string;
  /** The MCP server of the tool, for an API that separates the two. */
  readonly namespace?: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The scripts that an API plays, by name. */
export type Scenarios = Readonly<Record<string, readonly Step[]>>;

/** A request for the model's next turn, as a dialect reads it. */
export interface ModelRequest {
  /** The agent's session; its working directory where the API is told no session. */
  readonly session: string;
  readonly model: string;
  readonly cwd: string;
  /** Everything said so far, as JSON. */
  readonly conversation: string;
  readonly streams: boolean;
  readonly hasTools: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One request for a step. */
export interface ApiRequest extends ModelRequest {
  readonly scenario: string;
  /** How many requests of this session for this scenario came before. */
  readonly index: number;
}

/** What one API calls things. */
export interface Dialect {
  /** A request for a model turn; a body to answer with at once; null for an unknown address. */
  read(path: string, raw: string, headers: IncomingHttpHeaders): Read;
  /** The text of the reply to a request without tools. */
  readonly smallTalk: string;
  /** The body of a reply that is not streamed. */
  whole(reply: Reply, request: ModelRequest): object;
  /** A streamed reply. */
  stream(reply: Reply, request: ModelRequest): readonly ServerSentEvent[];
  /** The start of a stream that then falls silent. */
  opening(request: ModelRequest): readonly ServerSentEvent[];
  error(step: ErrorStep): object;
}

export type Read =
  | { readonly kind: 'turn'; readonly request: ModelRequest }
  | { readonly kind: 'answer'; readonly body: object }
  | null;

export interface ServerSentEvent {
  readonly event?: string;
  readonly data: object;
}

/** A running API. Leaving the scope ends it, with every open answer. */
export interface ScriptedApi extends AsyncDisposable {
  readonly url: string;
  /** Every request for a step, in order of arrival. */
  readonly requests: readonly ApiRequest[];
  /** Resolves once a scenario's request number `index` has come, in any session. */
  requested(scenario: string, index: number): Promise<ApiRequest>;
  /** Resolves once a tool has rung the bell of that name. */
  rung(bell: string): Promise<void>;
}

/** The tokens that every reply counts. */
export const TOKENS = { input: 100, output: 20 };

/** The model says something and ends its turn. */
export function say(text: string): Step {
  return { kind: 'reply', text, tools: [] };
}

/** The model uses a tool. */
export function toolCall(name: string, input: ToolCall['input'], namespace?: string): Step {
  const server = namespace === undefined ? {} : { namespace };
  return { kind: 'reply', text: '', tools: [{ name, input, ...server }] };
}

/** The API answers with an error. */
export function httpError(
  status: number,
  more: Partial<Pick<ErrorStep, 'message' | 'headers' | 'fields'>> = {},
): ErrorStep {
  const { message = `scripted ${status}`, headers = {}, fields = {} } = more;
  return { kind: 'error', status, message, headers, fields };
}

/** The API falls silent, before or within its answer. */
export function hang(where: 'headers' | 'stream' = 'stream'): Step {
  return { kind: 'hang', where };
}

/** The API answers once the promise resolves. */
export function after(ready: Promise<unknown>, step: Step): Step {
  return { kind: 'after', ready, step };
}

/** A command that rings a bell and then does not end by itself. */
export function endless(bell: string): string {
  return `node -e "fetch('{{api}}/ring/${bell}'); setTimeout(() => {}, 600000)"`;
}

/** Starts an API that plays these scenarios. */
export async function startScriptedApi(
  dialect: Dialect,
  scenarios: Scenarios,
): Promise<ScriptedApi> {
  const script = new Script(scenarios);
  const server = createServer((request, response) => {
    answer(dialect, script, request, response).catch((error: unknown) =>
      response.destroy(error as Error),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: script.requests,
    requested: (scenario, index) => script.requested(scenario, index),
    rung: (bell) => script.rung(bell),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The place of every session in its scenario, and the bells that have rung. */
class Script {
  readonly requests: ApiRequest[] = [];
  readonly #scenarios: Scenarios;
  readonly #bells = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(scenarios: Scenarios) {
    this.#scenarios = scenarios;
  }

  next(request: ModelRequest, scenario: string): Step {
    const earlier = this.#of(scenario).filter(({ session }) => session === request.session);
    const index = earlier.length;
    this.requests.push({ ...request, scenario, index });
    this.#changed();
    const steps = this.#scenarios[scenario] ?? [];
    const message = `there is no scenario "${scenario}"`;
    return steps[Math.min(index, steps.length - 1)] ?? httpError(400, { message });
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

async function answer(
  dialect: Dialect,
  script: Script,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const raw = await readText(incoming);
  const path = incoming.url ?? '';
  if (incoming.method === 'HEAD') return void response.end(); // A CLI that tests the connection.
  if (path.startsWith('/ring/')) {
    script.ring(path.slice('/ring/'.length));
    return void response.end();
  }
  const read = incoming.method === 'POST' ? dialect.read(path, raw, incoming.headers) : null;
  if (read === null) {
    const unknown = httpError(404, { message: `nothing at ${path}` });
    return sendJson(response, 404, dialect.error(unknown));
  }
  if (read.kind === 'answer') return sendJson(response, 200, read.body);
  const { request } = read;
  const scenario = /\[\[scenario:([\w.-]+)\]\]/.exec(raw)?.[1] ?? '';
  let step = request.hasTools ? script.next(request, scenario) : say(dialect.smallTalk);
  while (step.kind === 'after') {
    await step.ready;
    step = step.step;
  }
  perform(response, dialect, step, { request, api: `http://${incoming.headers.host}` });
}

function perform(
  response: ServerResponse,
  dialect: Dialect,
  step: Exclude<Step, { kind: 'after' }>,
  { request, api }: { readonly request: ModelRequest; readonly api: string },
): void {
  switch (step.kind) {
    case 'error':
      return sendJson(response, step.status, dialect.error(step), step.headers);
    case 'hang':
      if (step.where === 'stream') sendEvents(response, dialect.opening(request));
      return;
    case 'reply': {
      const reply = filled(step, request.cwd, api);
      if (!request.streams) return sendJson(response, 200, dialect.whole(reply, request));
      sendEvents(response, dialect.stream(reply, request));
      return void response.end();
    }
  }
}

/** The CLI tells the model where it works, so scripts need no absolute paths. */
function filled(reply: Reply, cwd: string, api: string): Reply {
  const quoted = JSON.stringify(cwd).slice(1, -1);
  const text = JSON.stringify(reply.tools).replaceAll('{{cwd}}', quoted).replaceAll('{{api}}', api);
  return { ...reply, tools: JSON.parse(text) };
}

function sendEvents(response: ServerResponse, events: readonly ServerSentEvent[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  for (const { event, data } of events) {
    const name = event === undefined ? '' : `event: ${event}\n`;
    response.write(`${name}data: ${JSON.stringify(data)}\n\n`);
  }
}

function sendJson(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
