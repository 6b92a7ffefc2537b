/**
 * A scripted generateContent API on 127.0.0.1: the model's side of a conversation with Gemini CLI,
 * written down in a test.
 *
 *   await using api = await startGenerateApi({
 *     scenarios: { users: [write('a.txt', 'x'), shell('git add -A'), say('done')] },
 *   });
 *   geminiEnv(home, api.url)              // a prompt with [[scenario:users]] plays that scenario
 *
 *   G1. A scenario is a list of steps, one per request of the model; the last one repeats.
 *   G2. Each workspace has its own place in a scenario: the CLI names no session, but says where it
 *       works. So a resumed session goes on where it stopped.
 *   G3. Requests without tools (routing, summaries) are answered and use up no step.
 *   G4. An unknown scenario is an error of the API, so that a misspelt test fails.
 *   G5. A tool that runs can tell the test so: it rings a bell at `{{api}}/ring/<name>`.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

/** What the model does when it is asked. */
export type Step =
  | { readonly kind: 'reply'; readonly text: string; readonly tools: readonly ToolCall[] }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly message: string;
      readonly details: readonly object[];
    }
  /** Begins an answer and falls silent. */
  | { readonly kind: 'hang' };

/** A tool the model wants to use. In its input `{{api}}` becomes the address of this API. */
export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One request for a step, as it came. */
export interface ApiRequest {
  readonly scenario: string;
  /** Where the CLI works. */
  readonly workspace: string;
  /** How many requests from this workspace for this scenario came before. */
  readonly index: number;
  /** The model's name, from the address. */
  readonly model: string;
  readonly body: RequestBody;
}

/** The part of a request's body that tests look at. */
export interface RequestBody {
  readonly contents: readonly unknown[];
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly { readonly name: string }[];
  }[];
}

/** A running API. Leaving the scope ends it, with every open answer. */
export interface GenerateApi extends AsyncDisposable {
  readonly url: string;
  /** Every request for a step, in order of arrival. */
  readonly requests: readonly ApiRequest[];
  /** Resolves when a scenario's request number `index` has come, from whatever workspace. */
  requested(scenario: string, index: number): Promise<ApiRequest>;
  /** Resolves when a tool has rung the bell of that name. */
  rung(bell: string): Promise<void>;
}

/** The model says something and ends its turn. */
export function say(text: string): Step {
  return { kind: 'reply', text, tools: [] };
}

/** The model uses a tool. */
export function tool(name: string, args: ToolCall['args']): Step {
  return { kind: 'reply', text: '', tools: [{ name, args }] };
}

/** The model writes a file, named relative to the CLI's working directory. */
export function write(path: string, content: string): Step {
  return tool('write_file', { file_path: path, content });
}

/** The model runs a command. */
export function shell(command: string): Step {
  return tool('run_shell_command', { command, description: 'scripted' });
}

/** The model runs a command that rings a bell and then does not end by itself. */
export function shellForever(bell: string): Step {
  return shell(`node -e "fetch('{{api}}/ring/${bell}'); setTimeout(() => {}, 600000)"`);
}

/** The API answers with an error, with details in the form of `google.rpc` where given. */
export function httpError(
  status: number,
  message = `scripted ${status}`,
  details: readonly object[] = [],
): Step {
  return { kind: 'error', status, message, details };
}

/** The API falls silent within its answer. */
export function hang(): Step {
  return { kind: 'hang' };
}

/** The detail by which the API says how long to wait. */
export function retryIn(seconds: number): object {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
}

/** Starts an API that plays these scenarios. */
export async function startGenerateApi(options: {
  readonly scenarios: Readonly<Record<string, readonly Step[]>>;
}): Promise<GenerateApi> {
  const script = new Script(new Map(Object.entries(options.scenarios)));
  const server = createServer((request, response) => {
    answer(script, request, response).catch((error: unknown) => response.destroy(error as Error));
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

/** Where every workspace stands in its scenario, and what tools have told. */
class Script {
  readonly requests: ApiRequest[] = [];
  readonly #scenarios: ReadonlyMap<string, readonly Step[]>;
  readonly #bells = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(scenarios: ReadonlyMap<string, readonly Step[]>) {
    this.#scenarios = scenarios;
  }

  next(request: Omit<ApiRequest, 'index'>): Step {
    const { scenario, workspace } = request;
    const index = this.#of(scenario).filter((earlier) => earlier.workspace === workspace).length;
    this.requests.push({ ...request, index });
    this.#changed();
    const steps = this.#scenarios.get(scenario);
    const step = steps?.[Math.min(index, steps.length - 1)];
    return step ?? httpError(400, `there is no scenario "${scenario}"`);
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

async function answer(script: Script, request: IncomingMessage, response: ServerResponse) {
  const raw = await readText(request);
  const path = request.url ?? '';
  if (path.startsWith('/ring/')) {
    script.ring(path.slice('/ring/'.length));
    return void response.end();
  }
  const [, model = '', method] = /\/models\/([^:/?]+):(\w+)/.exec(path) ?? [];
  if (method === 'countTokens') {
    return sendJson(response, 200, { totalTokens: Math.ceil(raw.length / 4) });
  }
  if (method !== 'streamGenerateContent' && method !== 'generateContent') {
    return sendJson(response, 404, errorBody(404, `nothing at ${path}`, []));
  }
  const body = JSON.parse(raw) as RequestBody;
  const asked = { model, api: `http://${request.headers.host}`, streams: path.includes('alt=sse') };
  if (!body.tools?.length) return reply(response, say('{}'), asked);
  const step = script.next({
    scenario: /\[\[scenario:([\w.-]+)\]\]/.exec(raw)?.[1] ?? '',
    // The CLI tells the model where it works.
    workspace: /\*\*Workspace Directories:\*\*\\n\s*- ([^"\\]+)/.exec(raw)?.[1] ?? '',
    model,
    body,
  });
  reply(response, step, asked);
}

interface Asked {
  readonly model: string;
  readonly api: string;
  readonly streams: boolean;
}

function reply(response: ServerResponse, step: Step, asked: Asked): void {
  switch (step.kind) {
    case 'error':
      return sendJson(response, step.status, errorBody(step.status, step.message, step.details));
    case 'hang':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.write(': silence\n\n');
    case 'reply':
      return asked.streams
        ? sendStream(response, step, asked)
        : sendJson(response, 200, chunkOf(step, asked));
  }
}

type Reply = Step & { readonly kind: 'reply' };

function sendStream(response: ServerResponse, step: Reply, asked: Asked): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify(chunkOf(step, asked))}\n\n`);
}

function chunkOf({ text, tools }: Reply, { model, api }: Asked): object {
  const calls = tools.map(({ name, args }) => ({
    functionCall: { name, args: JSON.parse(JSON.stringify(args).replaceAll('{{api}}', api)) },
  }));
  const parts = text === '' ? calls : [{ text }, ...calls];
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: USAGE,
    modelVersion: model,
  };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function errorBody(status: number, message: string, details: readonly object[]): object {
  return { error: { code: status, message, status: STATUS_NAMES[status] ?? 'INTERNAL', details } };
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

const USAGE = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
