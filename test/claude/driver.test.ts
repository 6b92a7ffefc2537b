/**
 * The real Claude Code CLI, driven through our agent's command, parser and outcome, against a
 * scripted Messages API. What the recorded transcripts claim is shown here to be still true.
 */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import type { AgentOutcome, Job } from '../../src/agents/agent.ts';
import { claude } from '../../src/agents/claude.ts';
import type { Exit } from '../../src/base/exit.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import { claudeCli, claudeEnv } from '../support/claude-cli.ts';
import { jobOf } from '../support/job.ts';
import { bash, httpError, say, startMessagesApi, write } from '../support/messages-api.ts';

/** Known before a test begins: installing it may take longer than a test may. */
const CLI = await claudeCli();

test('a task that writes a file ends well, with its session, tools, cost and text', async () => {
  await using place = await workplace();
  await using api = await startMessagesApi({
    scenarios: { happy: [write('a.txt', 'one\n'), bash('cat a.txt'), say('All done.')] },
  });
  const newSession = randomUUID();

  const { events, outcome } = await place.drive(api.baseUrl('happy'), { newSession });

  expect(outcome).toEqual({ ok: true, text: 'All done.' });
  expect(events.find(({ type }) => type === 'session')).toMatchObject({ id: newSession });
  expect(events.filter(({ type }) => type.startsWith('tool.'))).toMatchObject([
    { type: 'tool.start', name: 'Write' },
    { type: 'tool.end', ok: true },
    { type: 'tool.start', name: 'Bash' },
    { type: 'tool.end', ok: true, output: 'one' },
  ]);
  expect(resultOf(events)).toMatchObject({
    turns: 3,
    usage: { costUsd: expect.closeTo(0.0024, 6), inputTokens: 300, outputTokens: 60 },
  });
  expect(await readFile(join(place.dir, 'a.txt'), 'utf8')).toBe('one\n');
});

test('a 429 is told as a retry, and the task still ends well', async () => {
  await using place = await workplace();
  await using api = await startMessagesApi({
    scenarios: { busy: [httpError(429, { 'retry-after': '1' }), say('Late, but done.')] },
  });

  const { events, outcome } = await place.drive(api.url, { prompt: '# Go\n[[scenario:busy]]' });

  expect(outcome).toEqual({ ok: true, text: 'Late, but done.' });
  expect(events.filter(({ type }) => type === 'retry')).toMatchObject([
    { attempt: 1, max: 3, failure: { kind: 'rate-limited' } },
  ]);
});

test('a 401 is known at the first retry, long before the CLI gives up', async () => {
  await using place = await workplace();
  await using api = await startMessagesApi({ scenarios: { locked: [httpError(401)] } });

  const { outcome } = await place.drive(api.baseUrl('locked'), {});

  expect(outcome).toEqual({
    ok: false,
    failure: { kind: 'auth', message: 'The service answered 401 (authentication_failed).' },
  });
  expect(api.requests).toHaveLength(1);
});

test('a read-only job is refused the tools that write, and each refusal is told once', async () => {
  await using place = await workplace();
  await using api = await startMessagesApi({
    scenarios: { reader: [write('a.txt', 'x'), bash('touch b.txt'), say('Could not write.')] },
  });

  const { events, outcome } = await place.drive(api.baseUrl('reader'), { readOnly: true });

  expect(outcome).toEqual({ ok: true, text: 'Could not write.' });
  expect(events.filter(({ type }) => type === 'denied')).toEqual([
    { type: 'denied', tool: 'Bash' },
  ]);
  expect(events.filter(({ type }) => type === 'tool.end')).toMatchObject([
    { ok: false },
    { ok: false },
  ]);
  expect(await readdir(place.dir)).toEqual([]);
});

test('a resumed session knows what was said, and costs only what it adds', async () => {
  await using place = await workplace();
  await using api = await startMessagesApi({
    scenarios: { twice: [say('First part.'), say('Second part.')] },
  });
  const session = randomUUID();
  await place.drive(api.baseUrl('twice'), { newSession: session, prompt: '# The first prompt' });

  const { events, outcome } = await place.drive(api.baseUrl('twice'), { resume: session });

  expect(outcome).toEqual({ ok: true, text: 'Second part.' });
  expect(events.find(({ type }) => type === 'session')).toMatchObject({ id: session });
  expect(resultOf(events)).toMatchObject({ usage: { costUsd: expect.closeTo(0.0008, 6) } });
  expect(JSON.stringify(api.requests[1]?.body.messages)).toContain('The first prompt');
});

test('a session that does not exist cannot be resumed, and the message says so', async () => {
  await using place = await workplace();
  const resume = randomUUID();

  const { outcome } = await place.drive('http://127.0.0.1:9', { resume });

  const message =
    'The session to resume is not known to the agent any more. ' +
    `No conversation found with session ID: ${resume}`;
  expect(outcome).toEqual({ ok: false, failure: { kind: 'session-lost', message } });
});

test('a role that does not exist stops the CLI at once, and the message names it', async () => {
  await using place = await workplace();

  const { outcome } = await place.drive('http://127.0.0.1:9', { role: 'nobody' });

  expect(outcome).toMatchObject({
    ok: false,
    failure: { kind: 'permanent', message: expect.stringContaining("'nobody' not found") },
  });
});

interface Driven {
  readonly events: readonly AgentEvent[];
  readonly outcome: AgentOutcome;
}

/** An empty folder to work in and a home of its own, gone at the end of the scope. */
async function workplace() {
  const root = await mkdtemp(join(tmpdir(), 'landfast-claude-'));
  const dir = await mkdtemp(join(root, 'work-'));
  const home = await mkdtemp(join(root, 'home-'));
  return {
    dir,
    drive: (url: string, job: Partial<Job>) => drive(dir, claudeEnv(home, url), job),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** What the worker does, in small: spawn, parse, end the process on a failed log-in, judge. */
async function drive(
  cwd: string,
  env: Record<string, string>,
  part: Partial<Job>,
): Promise<Driven> {
  const command = claude.command({ ...JOB, executable: CLI, ...part });
  const child = spawn(command.file, command.args, { cwd, env: { ...env, ...command.env } });
  const closed = once(child, 'close');
  child.stdin.on('error', () => {}); // It may refuse to start without reading the prompt.
  child.stdin.end(command.stdin);
  let stderrTail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrTail += text;
  });

  const parser = claude.parser(JOB);
  const events: AgentEvent[] = [];
  let failure: (AgentOutcome & { ok: false }) | null = null;
  for await (const line of createInterface({ input: child.stdout })) {
    for (const event of parser.stdout(line)) {
      events.push(event);
      if (event.type !== 'retry' || event.failure.kind !== 'auth') continue;
      failure ??= { ok: false, failure: event.failure };
      child.kill('SIGKILL');
    }
  }
  const exit = exitOf(await closed);
  const result = resultOf(events);
  const spoke = events.length > 0;
  return {
    events,
    outcome:
      failure ?? claude.outcome({ exit, job: JOB, result, spoke, stdoutTail: '', stderrTail }),
  };
}

const JOB = jobOf({ permissions: 'bypassPermissions' });

function resultOf(events: readonly AgentEvent[]): (AgentEvent & { type: 'result' }) | null {
  return events.findLast((event) => event.type === 'result') ?? null;
}

function exitOf([code, signal]: readonly unknown[]): Exit {
  return typeof code === 'number'
    ? { kind: 'exited', code }
    : { kind: 'signalled', signal: String(signal) };
}
