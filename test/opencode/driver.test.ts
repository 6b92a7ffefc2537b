/**
 * The real OpenCode CLI, driven through our agent's command, parser and outcome, against a scripted
 * Messages API: each wish of a job, and each way to refuse it.
 */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { AgentOutcome, Job } from '../../src/agents/agent.ts';
import { opencode } from '../../src/agents/opencode.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import { NO_OPTIONS } from '../../src/model/plan.ts';
import { jobOf } from '../support/job.ts';
import { say, startMessagesApi, tool } from '../support/messages-api.ts';
import { opencodeCli, opencodeEnv } from '../support/opencode-cli.ts';
import { bash, write } from './steps.ts';

/** Known before a test begins: installing it may take longer than a test may. */
const CLI = await opencodeCli();

test('a task that writes a file ends well, with its session, model, tools, cost and text', async () => {
  await using place = await workplace();
  await using api = await startMessagesApi({
    scenarios: { happy: [write('a.txt', 'one\n'), bash('cat a.txt; exit 3'), say('All done.')] },
  });

  const { events, outcome } = await place.drive(api.baseUrl('happy'), BYPASS);

  expect(outcome).toEqual({ ok: true, text: 'All done.' });
  const session = String(api.requests[0]?.headers['x-session-id']);
  expect(events.filter(({ type }) => type === 'session')).toEqual([
    { type: 'session', id: session, model: 'scripted/model', cwd: place.dir },
  ]);
  expect(events.filter(({ type }) => type.startsWith('tool.'))).toMatchObject([
    { type: 'tool.start', name: 'write', input: { filePath: 'a.txt' } },
    { type: 'tool.end', ok: true },
    { type: 'tool.start', name: 'bash' },
    { type: 'tool.end', ok: false, output: 'one\n' },
  ]);
  expect(resultOf(events)).toMatchObject({
    turns: 3,
    usage: { costUsd: expect.closeTo(0.0018, 6), inputTokens: 300, outputTokens: 60 },
  });
  expect(await readFile(join(place.dir, 'a.txt'), 'utf8')).toBe('one\n');
});

test('acceptEdits edits here, runs what is allowed, and is refused everything else', async () => {
  await using place = await workplace();
  const other = join(place.root, 'other');
  await using api = await startMessagesApi({
    scenarios: {
      careful: [
        write('a.txt', 'one\n'),
        bash('touch no.txt'),
        bash('git --version'),
        bash('git --version && touch no.txt'),
        write(join(other, 'b.txt'), 'two\n'),
        write(join(place.root, 'c.txt'), 'three\n'),
        write('secret/d.txt', 'four\n'),
        tool('webfetch', { url: NOWHERE, format: 'text' }),
        say('Done.'),
      ],
    },
  });
  const tools = { allowed: [], disallowed: ['edit(secret/*)'], commands: ['git'] };

  const { events, outcome } = await place.drive(api.baseUrl('careful'), {
    permissions: 'acceptEdits',
    options: { ...NO_OPTIONS, dirs: [other], tools },
  });

  expect(outcome).toEqual({ ok: true, text: 'Done.' });
  expect(ends(events)).toEqual([true, false, true, false, true, false, false, false]);
  const denied = events.filter(({ type }) => type === 'denied');
  expect(denied).toEqual(['bash', 'bash', 'write', 'write', 'webfetch'].map(toDenied));
  expect(await place.files()).toEqual(['a.txt']);
  expect(await readdir(other)).toEqual(['b.txt']);
});

test('what the user’s own rules say of an agent does not loosen a read task', async () => {
  await using place = await workplace({
    permission: { edit: 'allow', '*': 'allow' },
    agent: { build: { permission: { '*': 'allow', edit: 'allow', bash: { 'touch *': 'allow' } } } },
  });
  await using api = await startMessagesApi({
    scenarios: { reader: [write('a.txt', 'x'), bash('touch b.txt'), say('Could not.')] },
  });

  const { events, outcome } = await place.drive(api.baseUrl('reader'), { readOnly: true });

  expect(outcome).toEqual({ ok: true, text: 'Could not.' });
  expect(events.filter(({ type }) => type === 'denied')).toEqual(['write', 'bash'].map(toDenied));
  expect(await place.files()).toEqual([]);
});

test('in default mode what the user’s rules would ask about is refused, and it goes on', async () => {
  await using place = await workplace({ permission: { bash: 'ask' } });
  await using api = await startMessagesApi({
    scenarios: { asker: [bash('touch b.txt'), write('a.txt', 'x'), say('Without it.')] },
  });

  const { events, outcome } = await place.drive(api.baseUrl('asker'), { permissions: 'default' });

  expect(outcome).toEqual({ ok: true, text: 'Without it.' });
  expect(events.filter(({ type }) => type === 'denied')).toEqual([toDenied('bash')]);
  expect(await place.files()).toEqual(['a.txt']);
});

test('a session is resumed and forked with what was said, and costs only what it adds', async () => {
  await using place = await workplace();
  await using api = await startMessagesApi({
    scenarios: { twice: [say('First part.'), say('Second part.'), say('Another second part.')] },
  });
  const url = api.baseUrl('twice');
  const first = await place.drive(url, { ...BYPASS, prompt: '# The first prompt' });
  const session = sessionIn(first.events);

  const second = await place.drive(url, { ...BYPASS, resume: session });
  const fork = await place.drive(url, { ...BYPASS, resume: session, fork: true });

  expect(second.outcome).toEqual({ ok: true, text: 'Second part.' });
  expect(sessionIn(second.events)).toBe(session);
  expect(resultOf(second.events)).toMatchObject({ usage: { inputTokens: 100, outputTokens: 20 } });
  expect(fork.outcome).toEqual({ ok: true, text: 'Another second part.' });
  expect(sessionIn(fork.events)).not.toBe(session);
  const told = api.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(told.map((text) => text.includes('The first prompt'))).toEqual([true, true, true]);
});

test('an MCP server of the plan is started with its secret, and its tools must be allowed', async () => {
  await using place = await workplace();
  await using api = await startMessagesApi({
    scenarios: { mcp: [tool('keeper_tell', {}), say('Told.')] },
  });
  const server = join(place.root, 'server.mjs');
  await writeFile(server, MCP_SERVER);
  const tools = { allowed: ['keeper_*'], disallowed: [], commands: [] };
  const mcp = { keeper: { command: [process.execPath, server], env: { WORD: 'open "sesame"' } } };

  const { events, outcome } = await place.drive(api.baseUrl('mcp'), {
    options: { ...NO_OPTIONS, tools, mcp },
  });

  expect(outcome).toEqual({ ok: true, text: 'Told.' });
  expect(events.filter(({ type }) => type === 'tool.end')).toMatchObject([
    { ok: true, output: 'open "sesame"' },
  ]);
});

test('a role works with its own prompt, and one that is not there stops the CLI', async () => {
  await using place = await workplace({ agent: { critic: { prompt: 'Be very critical.' } } });
  await using api = await startMessagesApi({ scenarios: { role: [say('Bad.')] } });
  const url = api.baseUrl('role');

  const critic = await place.drive(url, { role: 'critic' });
  const nobody = await place.drive(url, { role: 'nobody' });
  const free = await place.drive(url, { ...BYPASS, role: 'nobody' });

  expect(critic.outcome).toEqual({ ok: true, text: 'Bad.' });
  expect(JSON.stringify(api.requests[0]?.body)).toContain('Be very critical.');
  const message = expect.stringContaining('agent "nobody" not found');
  expect(nobody.outcome).toEqual({ ok: false, failure: { kind: 'permanent', message } });
  expect(free.outcome).toEqual({ ok: false, failure: { kind: 'permanent', message } });
  expect(api.requests).toHaveLength(1);
});

test('an unknown model and an unknown session say what is wrong', async () => {
  await using place = await workplace();

  // One after the other: two first starts in one home may collide on the CLI's database.
  const model = await place.drive(NOWHERE, { model: 'scripted/other' });
  const lost = await place.drive(NOWHERE, { resume: 'ses_doesnotexist0000000000000' });

  expect([model, lost].map(({ outcome }) => outcome)).toEqual([
    {
      ok: false,
      failure: {
        kind: 'permanent',
        message: expect.stringContaining('Model not found: scripted/other'),
      },
    },
    {
      ok: false,
      failure: {
        kind: 'session-lost',
        message: expect.stringContaining('Session not found'),
      },
    },
  ]);
});

const BYPASS = { permissions: 'bypassPermissions' } as const;
const NOWHERE = 'http://127.0.0.1:9/';

const toDenied = (name: string) => ({ type: 'denied', tool: name });

/** A server of one tool that tells a word of its environment. */
const MCP_SERVER = `
import { createInterface } from 'node:readline';
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'keeper', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'tell', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: process.env.WORD }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params) ?? {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
}
`;

interface Driven {
  readonly events: readonly AgentEvent[];
  readonly outcome: AgentOutcome;
}

/** An empty folder to work in and a home of its own, gone at the end of the scope. */
async function workplace(config: object = {}) {
  const root = await mkdtemp(join(tmpdir(), 'landfast-opencode-'));
  const [dir, home, temp] = [join(root, 'work'), join(root, 'home'), join(root, 'temp')];
  for (const folder of [dir, home, temp, join(root, 'other')]) await mkdir(folder);
  await promisify(execFile)('git', ['init', '-q', dir]); // Paths in rules begin at its root.
  return {
    root,
    dir,
    files: async () => (await readdir(dir)).filter((name) => name !== '.git'),
    drive: async (url: string, job: Partial<Job>) => {
      const env = await opencodeEnv(home, url, config);
      return drive({ cwd: dir, temp, env: { ...env, TMPDIR: temp } }, jobOf({ cwd: dir, ...job }));
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

interface Place {
  readonly cwd: string;
  readonly temp: string;
  readonly env: Record<string, string>;
}

/** What the worker does, in small: files, spawn, parse, judge. */
async function drive({ cwd, temp, env }: Place, job: Job): Promise<Driven> {
  const command = opencode.command({ ...job, executable: CLI });
  for (const [name, text] of Object.entries(command.files ?? {})) {
    await writeFile(join(temp, name), text);
  }
  const own = Object.entries(command.env).map(([key, value]) => [
    key,
    value.replaceAll('{temp}', temp),
  ]);
  const child = spawn(command.file, command.args, {
    cwd,
    env: { ...env, ...Object.fromEntries(own) },
  });
  const closed = once(child, 'close');
  child.stdin.on('error', () => {}); // It may refuse to start without reading the prompt.
  child.stdin.end(command.stdin);

  const parser = opencode.parser(job);
  const events: AgentEvent[] = [];
  const tails = { stdout: '', stderr: '' };
  const listen = async (from: 'stdout' | 'stderr') => {
    for await (const line of createInterface({ input: child[from] })) {
      const heard = parser[from](line);
      if (heard.length === 0) tails[from] += `${line}\n`;
      events.push(...heard);
    }
  };
  await Promise.all([listen('stdout'), listen('stderr')]);
  const [code] = await closed;
  const outcome = opencode.outcome({
    exit: { kind: 'exited', code },
    job,
    result: resultOf(events),
    spoke: events.length > 0,
    stdoutTail: tails.stdout,
    stderrTail: tails.stderr,
  });
  return { events, outcome };
}

function resultOf(events: readonly AgentEvent[]): (AgentEvent & { type: 'result' }) | null {
  return events.findLast((event) => event.type === 'result') ?? null;
}

function sessionIn(events: readonly AgentEvent[]): string {
  return events.find((event) => event.type === 'session')?.id ?? '';
}

function ends(events: readonly AgentEvent[]): readonly boolean[] {
  return events.flatMap((event) => (event.type === 'tool.end' ? [event.ok] : []));
}
