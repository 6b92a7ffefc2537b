/**
 * The real Codex CLI, driven through our agent's command, parser and outcome, against a scripted
 * Responses API: every option reaches it and does what it says.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import type { AgentOutcome, Job } from '../../src/agents/agent.ts';
import { codex } from '../../src/agents/codex.ts';
import type { Exit } from '../../src/base/exit.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import { type AgentOptions, NO_OPTIONS } from '../../src/model/plan.ts';
import { codexCli, codexEnv } from '../support/codex-cli.ts';
import { jobOf } from '../support/job.ts';
import {
  type ResponsesApi,
  type Step,
  say,
  shell,
  startResponsesApi,
  tool,
} from '../support/responses-api.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Known before a test begins: installing it may take longer than a test may. */
const CLI = await codexCli();

test('a resumed or forked session knows what was said, and uses only what it adds', async () => {
  await using place = await workplace([say('First part.'), say('Second part.')]);
  const first = await place.drive({ prompt: 'The first prompt. [[scenario:it]]' });
  const session = sessionOf(first.events);

  const resumed = await place.drive({ resume: session });
  const forked = await place.drive({ resume: session, fork: true });

  expect(resumed.outcome).toEqual({ ok: true, text: 'Second part.' });
  expect(sessionOf(resumed.events)).toBe(session);
  expect(sessionOf(forked.events)).not.toBe(session);
  const usage = { costUsd: 0, inputTokens: 100, outputTokens: 20 };
  expect([first, resumed, forked].map(({ events }) => resultOf(events)?.usage)).toEqual([
    ...[usage, usage, usage],
  ]);
  const [, second, third] = place.api.requests.map(({ body }) => JSON.stringify(body.input));
  expect(second).toContain('The first prompt.');
  expect(second).toContain('First part.');
  expect(third).toContain('Second part.');
});

test('a session that does not exist cannot be resumed, and the message says so', async () => {
  await using place = await workplace([say('Never asked.')]);

  const { outcome } = await place.drive({ resume: '00000000-0000-4000-8000-000000000000' });

  expect(outcome).toEqual({
    ok: false,
    failure: {
      kind: 'session-lost',
      message: expect.stringMatching(/^The session to resume is not known .*no rollout found/),
    },
  });
  expect(place.api.requests).toEqual([]);
});

test('the model and the schema reach the service, and the answer is data', async () => {
  await using place = await workplace([say('{"ok":true}')]);
  const schema = {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
    additionalProperties: false,
  };

  const { outcome } = await place.drive({ model: 'another' }, { schema });

  expect(outcome).toEqual({ ok: true, text: '{"ok":true}', structured: { ok: true } });
  expect(place.api.requests.map(({ body }) => [body.model, body.text])).toEqual([
    ['another', { format: expect.objectContaining({ type: 'json_schema', schema }) }],
  ]);
});

test('an answer that does not fit the schema is a failure', async () => {
  await using place = await workplace([say('I would rather not.')]);

  const { outcome } = await place.drive({}, { schema: { type: 'object' } });

  const message = 'The agent’s answer is not in the form that was asked for.';
  expect(outcome).toEqual({ ok: false, failure: { kind: 'schema', message } });
});

/** Writes to the workspace, to a further folder and to a third one that nobody named. */
const WRITES = 'echo x > in; echo x > "$FURTHER/in"; echo x > "$THIRD/in"; echo done';

test.each([
  ['plan', [], [false, false, false]],
  ['acceptEdits', [], [true, false, false]],
  ['acceptEdits', ['further'], [true, true, false]],
  ['auto', [], [true, false, false]],
  ['bypassPermissions', [], [true, true, true]],
] as const)('%s with %j writes where it may', async (permissions, dirs, expected) => {
  await using place = await workplace([shell(WRITES), say('Done.')]);
  const { work, further, third } = place;
  const opened = dirs.map(() => further);

  const { events, outcome } = await place.drive({ permissions }, { dirs: opened });

  expect(place.api.requests[0]?.turn).toMatchObject({
    auto_review_enabled: permissions === 'auto',
  });
  const written = [work, further, third].map((dir) => existsSync(join(dir, 'in')));
  if (outcome.ok) {
    expect(written).toEqual(expected);
    return;
  }
  // The machine cannot build the CLI's sandbox: then nothing was written, and we say why.
  console.warn(outcome.failure.message);
  expect(outcome.failure.message).toContain('Codex could not set up its sandbox');
  expect(events.filter(({ type }) => type === 'warning').length).toBeGreaterThan(0);
  expect(written).toEqual([false, false, false]);
});

test.each([
  ['bypassPermissions', true, 'hey s3'],
  ['acceptEdits', false, 'MCP tool call requires approval, but approval policy is never'],
] as const)('with %s an MCP server’s tool runs: %s', async (permissions, ok, output) => {
  const call = { namespace: 'mcp__my_echo', name: 'echo', input: { text: 'hey' } };
  await using place = await workplace([tool(call), say('Done.')]);
  const server = join(place.work, 'server.cjs');
  await writeFile(server, MCP_SERVER);
  const command = [process.execPath, server];

  const { events, outcome } = await place.drive(
    { permissions },
    { mcp: { 'my-echo': { command, env: { SECRET: 's3' } } } },
  );

  expect(outcome).toEqual({ ok: true, text: 'Done.' });
  expect(events.filter(({ type }) => type === 'tool.start')).toMatchObject([
    { name: 'mcp:my-echo/echo', input: { arguments: { text: 'hey' } } },
  ]);
  expect(events.filter(({ type }) => type === 'tool.end')).toMatchObject([{ ok, output }]);
  expect(events.filter(({ type }) => type === 'denied')).toEqual(
    ok ? [] : [{ type: 'denied', tool: 'mcp:my-echo/echo' }],
  );
});

test('a prompt of 300 KB arrives whole', async () => {
  await using place = await workplace([say('Read.')]);
  const prompt = `--help\n/clear\n[[scenario:it]]\n${'long '.repeat(60_000)}the end`;

  const { outcome } = await place.drive({ prompt });

  expect(outcome).toEqual({ ok: true, text: 'Read.' });
  const said = JSON.stringify(place.api.requests[0]?.body.input);
  expect(said).toContain(JSON.stringify(prompt).slice(1, -1));
});

const MCP_SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: { text } }) => ({
    content: [{ type: 'text', text: text + ' ' + process.env.SECRET }],
  }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params) ?? {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;

interface Driven {
  readonly events: readonly AgentEvent[];
  readonly outcome: AgentOutcome;
}

/** A workspace, two folders beside it and a home, gone at the end of the scope. */
async function workplace(steps: readonly Step[]) {
  const api: ResponsesApi = await startResponsesApi({ scenarios: { it: steps } });
  const root = await tempDir();
  const at = (name: string) => join(root.path, name);
  for (const name of ['work', 'further', 'third', 'home', 'temp']) await mkdir(at(name));
  const env = {
    ...(await codexEnv(at('home'), api.url)),
    TMPDIR: at('temp'),
    FURTHER: at('further'),
    THIRD: at('third'),
  };
  return {
    api,
    work: at('work'),
    further: at('further'),
    third: at('third'),
    drive: (job: Partial<Job>, options: Partial<AgentOptions> = {}) => {
      const wishes = { ...NO_OPTIONS, ...options };
      const prompt = 'Go. [[scenario:it]]';
      const whole = jobOf({ prompt, executable: CLI, options: wishes, ...job });
      return drive(whole, at('work'), env);
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
    },
  };
}

/** What the worker does, in small: write files, spawn, parse, judge. */
async function drive(job: Job, cwd: string, env: Record<string, string>): Promise<Driven> {
  const command = codex.command(job);
  const temp = env.TMPDIR ?? '';
  for (const [name, text] of Object.entries(command.files ?? {})) {
    await writeFile(join(temp, name), text);
  }
  const args = command.args.map((arg) => arg.replaceAll('{temp}', temp));
  const child = spawn(command.file, args, { cwd, env: { ...env, ...command.env } });
  const closed = once(child, 'close');
  child.stdin.on('error', () => {}); // It may refuse to start without reading the prompt.
  child.stdin.end(command.stdin);

  const parser = codex.parser(job);
  const events: AgentEvent[] = [];
  let stderrTail = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    const heard = parser.stderr(line);
    if (heard.length === 0) stderrTail += `${line}\n`;
    events.push(...heard);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(...parser.stdout(line));
  });
  const exit = exitOf(await closed);
  const result = resultOf(events);
  const spoke = events.length > 0;
  return {
    events,
    outcome: codex.outcome({ exit, job, result, spoke, stdoutTail: '', stderrTail }),
  };
}

function resultOf(events: readonly AgentEvent[]): (AgentEvent & { type: 'result' }) | null {
  return events.findLast((event) => event.type === 'result') ?? null;
}

function sessionOf(events: readonly AgentEvent[]): string | null {
  return events.find((event) => event.type === 'session')?.id ?? null;
}

function exitOf([code, signal]: readonly unknown[]): Exit {
  return typeof code === 'number'
    ? { kind: 'exited', code }
    : { kind: 'signalled', signal: String(signal) };
}
