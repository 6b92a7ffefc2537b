/**
 * A scripted Responses API on 127.0.0.1: the model's side of a conversation with Codex, written
 * down in a test.
 *
 *   await using api = await startResponsesApi({
 *     scenarios: { users: [write('a.txt', 'x\n'), shell('git add -A'), say('done')] },
 *   });
 *   await codexEnv(home, api.url)         // a prompt with [[scenario:users]] plays that scenario
 *
 *   R1. A scenario is a list of steps, one per request of the model; the last one repeats.
 *   R2. Each session has its own place in a scenario: many agents may play the same one at once,
 *       and a resumed session goes on where it stopped.
 *   R3. An unknown scenario is an error of the API, so that a misspelt test fails.
 *   R4. A tool that runs can tell the test so: it rings a bell at `{{api}}/ring/<name>`.
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
      readonly headers: Readonly<Record<string, string>>;
      readonly error: Readonly<Record<string, unknown>>;
    }
  /** Begins an answer and falls silent. */
  | { readonly kind: 'hang' };

/** A tool the model wants to use. In its input `{{api}}` becomes the address of this API. */
export interface ToolCall {
  readonly name: string;
  /** Where the tool is an MCP server's. */
  readonly namespace?: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** One request for a step, as it came. */
export interface ApiRequest {
  readonly scenario: string;
  readonly session: string;
  /** What the CLI says of the turn: its sandbox, for one. */
  readonly turn: Readonly<Record<string, unknown>>;
  readonly body: RequestBody;
}

/** The part of a request's body that tests look at. */
export interface RequestBody {
  readonly model: string;
  readonly input: readonly unknown[];
  readonly text?: unknown;
}

/** A running API. Leaving the scope ends it, with every open answer. */
export interface ResponsesApi extends AsyncDisposable {
  readonly url: string;
  /** Every request for a step, in order of arrival. */
  readonly requests: readonly ApiRequest[];
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
export function tool(call: ToolCall): Step {
  return { kind: 'reply', text: '', tools: [call] };
}

/** The model runs a command. */
export function shell(cmd: string): Step {
  return tool({ name: 'exec_command', input: { cmd, yield_time_ms: 30_000 } });
}

/** The model runs a command that rings a bell and then does not end by itself. */
export function shellForever(bell: string): Step {
  return shell(`node -e "fetch('{{api}}/ring/${bell}'); setTimeout(() => {}, 600000)"`);
}

/** The model adds a file with its patch tool. */
export function write(path: string, content: string): Step {
  const lines = content.replace(/\n$/, '').split('\n');
  const patch = ['*** Begin Patch', `*** Add File: ${path}`, ...lines.map((line) => `+${line}`)];
  return shell(`apply_patch <<'PATCH'\n${patch.join('\n')}\n*** End Patch\nPATCH`);
}

/** The API answers with an error. */
export function httpError(
  status: number,
  more: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly error?: Readonly<Record<string, unknown>>;
  } = {},
): ErrorStep {
  const error = { message: `scripted ${status}`, type: 'scripted', ...more.error };
  return { kind: 'error', status, headers: more.headers ?? {}, error };
}

/** The API falls silent within its answer. */
export function hang(): Step {
  return { kind: 'hang' };
}

/** Starts an API that plays these scenarios. */
export async function startResponsesApi(options: {
  readonly scenarios: Readonly<Record<string, readonly Step[]>>;
}): Promise<ResponsesApi> {
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

/** Where every session stands in its scenario, and what tools have told. */
class Script {
  readonly requests: ApiRequest[] = [];
  readonly #scenarios: ReadonlyMap<string, readonly Step[]>;
  readonly #bells = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(scenarios: ReadonlyMap<string, readonly Step[]>) {
    this.#scenarios = scenarios;
  }

  next(request: ApiRequest): Step {
    const { scenario, session } = request;
    const index = this.#of(scenario).filter((earlier) => earlier.session === session).length;
    this.requests.push(request);
    this.#changed();
    const steps = this.#scenarios.get(scenario) ?? [];
    const error = { message: `there is no scenario "${scenario}"` };
    return steps[Math.min(index, steps.length - 1)] ?? httpError(400, { error });
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
  const path = request.url ?? '';
  const raw = await readText(request);
  if (path.startsWith('/ring/')) {
    script.ring(path.slice('/ring/'.length));
    return void response.end();
  }
  if (request.method !== 'POST' || path !== '/v1/responses') {
    return sendError(response, httpError(404, { error: { message: `nothing at ${path}` } }));
  }
  const turn = JSON.parse(String(request.headers['x-codex-turn-metadata'] ?? '{}'));
  const step = script.next({
    scenario: /\[\[scenario:([\w.-]+)\]\]/.exec(raw)?.[1] ?? '',
    session: String(turn.thread_id ?? ''),
    turn,
    body: JSON.parse(raw) as RequestBody,
  });
  if (step.kind === 'error') return sendError(response, step);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const head = { id: freshId('resp'), object: 'response' };
  sendEvent(response, 'response.created', {
    response: { ...head, status: 'in_progress', output: [] },
  });
  if (step.kind === 'hang') return;
  const output = outputOf(step, `http://${request.headers.host}`);
  for (const [index, item] of output.entries()) {
    sendEvent(response, 'response.output_item.added', { output_index: index, item });
    sendEvent(response, 'response.output_item.done', { output_index: index, item });
  }
  sendEvent(response, 'response.completed', {
    response: { ...head, status: 'completed', output, usage: USAGE },
  });
  response.end();
}

type Reply = Step & { readonly kind: 'reply' };
type ErrorStep = Step & { readonly kind: 'error' };

function outputOf(step: Reply, api: string): readonly object[] {
  const content = [{ type: 'output_text', text: step.text, annotations: [] }];
  const message = { type: 'message', id: freshId('msg'), role: 'assistant', content };
  const calls = step.tools.map(({ input, ...named }) => ({
    type: 'function_call',
    id: freshId('fc'),
    call_id: freshId('call'),
    ...named,
    arguments: JSON.stringify(input).replaceAll('{{api}}', api),
  }));
  return step.text === '' ? calls : [{ ...message, status: 'completed' }, ...calls];
}

function sendEvent(response: ServerResponse, type: string, fields: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}

function sendError(response: ServerResponse, step: ErrorStep): void {
  response.writeHead(step.status, { 'content-type': 'application/json', ...step.headers });
  response.end(JSON.stringify({ error: step.error }));
}

/** What every answer counts. */
export const EACH = { input: 100, output: 20 };

const USAGE = {
  input_tokens: EACH.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: EACH.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: EACH.input + EACH.output,
};

let ids = 0;

function freshId(prefix: string): string {
  ids += 1;
  return `${prefix}_${String(ids).padStart(6, '0')}`;
}
