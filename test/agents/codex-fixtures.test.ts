/**
 * Every recorded stream of the real CLI through the parser: what it ended as, what it used, whose
 * session it was. A `.log` beside a stream is what came on standard error. A new version of the CLI
 * adds recordings and rows here.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentEnd, Job } from '../../src/agents/agent.ts';
import { codex } from '../../src/agents/codex.ts';
import type { Exit } from '../../src/base/exit.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import type { FailureKind } from '../../src/model/failure.ts';
import { NO_OPTIONS } from '../../src/model/plan.ts';
import { jobOf } from '../support/job.ts';

const DIR = join(import.meta.dirname, '../fixtures/transcripts/codex');

interface Counts {
  readonly tools?: number;
  readonly retries?: number;
  readonly denied?: number;
  readonly results?: number;
}

/** Name; how it ended (null: without a result); tokens in and out; the end of the session's id. */
type Row = [string, 'ok' | FailureKind | null, [number, number] | null, string, Counts?];

// biome-ignore format: a table is read by its rows
const ROWS: readonly Row[] = [
  ['auto-denied', 'ok', [500, 100], '2b2da4362831', { tools: 1, denied: 1 }],
  ['cmd-fail', 'ok', [200, 40], '617ac1aba5e3', { tools: 1 }],
  ['f400', 'permanent', null, '94d9b2813598'],
  ['f401', 'auth', null, '2eed6111b15b', { retries: 5 }],
  ['f403', 'auth', null, '8ec4cd0e1cee', { retries: 5 }],
  ['f404', 'permanent', null, '154d4c5ef01f', { retries: 5 }],
  ['f429-usage', 'rate-limited', null, '03983cac00ca'],
  ['f429', 'rate-limited', null, 'e5a6b3a1b750', { retries: 5, results: 6 }],
  ['f500', 'transient', null, '09d6d5d75e64', { retries: 5 }],
  ['f503-once', 'ok', [100, 20], '70df674d0432'],
  ['fconn', 'transient', null, '291b0c14722a', { retries: 4, results: 4 }],
  ['fork-logged', 'ok', [200, 40], '6dfc7cd253b5', { tools: 1 }],
  ['happy', 'ok', [200, 40], 'e2799a9fc3fd', { tools: 1 }],
  ['logged', 'ok', [200, 40], '38f6eafff79b', { tools: 1 }],
  ['mcp-denied', 'ok', [200, 40], 'b74b1bcbe470', { tools: 1, denied: 1 }],
  ['mcp', 'ok', [200, 40], '6f3c41967d5f', { tools: 1 }],
  ['no-key', 'auth', null, 'dc54fb411e6c'],
  ['no-sandbox', 'permanent', [200, 40], '2ae9be751cd4', { tools: 1 }],
  ['nogit', 'ok', [100, 20], '62cc739527e3'],
  ['patch', 'ok', [200, 40], '350bb4372401', { tools: 1 }],
  ['quota', 'billing', null, 'a73c335691ae'],
  ['resume-logged', 'ok', [200, 40], '38f6eafff79b', { tools: 1 }],
  ['resume-othercwd', 'ok', null, 'e2799a9fc3fd'],
  ['resume', 'ok', null, 'e2799a9fc3fd'],
  ['sandbox-ro', 'ok', [200, 40], '49b0ccea0578'],
  ['schema', 'ok', [100, 20], 'cbff4e7ba7f7'],
  ['sig-SIGINT', null, null, '2bebc0bd4a70'],
  ['sig-SIGTERM', null, null, '3d6c167ab9ab'],
  ['sig-resume-SIGINT', 'ok', null, '2bebc0bd4a70'],
  ['sig-resume-SIGTERM', 'ok', null, '3d6c167ab9ab'],
  ['usage-limit', 'rate-limited', null, '8486b1c47aac'],
];

test.each(ROWS)('%s', (name, ending, tokens, session, counts = {}) => {
  const events = read(name);
  const result = lastResult(events);
  const count = (type: AgentEvent['type']) => events.filter((event) => event.type === type).length;
  const usage = result?.usage;

  expect({
    ending: result === null ? null : (result.failure?.kind ?? 'ok'),
    tokens: usage === undefined ? null : [usage.inputTokens, usage.outputTokens],
    sessions: events.filter((event) => event.type === 'session').map(({ id }) => id.slice(-12)),
    tools: count('tool.end'),
    retries: count('retry'),
    denied: count('denied'),
    results: count('result'),
  }).toEqual({
    ending,
    tokens,
    sessions: [session],
    tools: 0,
    retries: 0,
    denied: 0,
    results: ending === null ? 0 : 1,
    ...counts,
  });
});

test('every recording has its row', () => {
  const named = ROWS.map(([name]) => name);
  const recorded = readdirSync(DIR).map((file) => file.replace(/\.\w+$/, ''));
  expect(named.sort()).toEqual([...new Set(recorded)].sort());
});

test('where there is a result the exit code changes nothing', () => {
  for (const [name, ending] of ROWS.filter(([, ending]) => ending !== null)) {
    const outcomes = [0, 1].map((code) => codex.outcome(end(name, { kind: 'exited', code })));
    expect(outcomes[0], name).toEqual(outcomes[1]);
    expect(outcomes[0]?.ok, name).toBe(ending === 'ok');
  }
});

test.each<[string, Exit, string]>([
  ['sig-SIGINT', { kind: 'exited', code: 1 }, 'It exited with code 1.'],
  ['sig-SIGTERM', { kind: 'signalled', signal: 'SIGTERM' }, 'It was ended by SIGTERM.'],
])('%s began to work and ended without a result: it may be tried again', (name, exit, how) => {
  const message = `The agent ended without a result. ${how}`;
  expect(codex.outcome(end(name, exit))).toEqual({
    ok: false,
    failure: { kind: 'transient', message },
  });
});

test('a thread’s total is not an attempt’s: what the log counted is', () => {
  const lines = readFileSync(join(DIR, 'resume-logged.jsonl'), 'utf8');
  expect(lines).toContain('"input_tokens":400');
  const usage = { costUsd: 0, inputTokens: 200, outputTokens: 40 };
  expect(lastResult(read('resume-logged'))?.usage).toEqual(usage);
});

test('a usage limit says when it resets, to the end of the minute', () => {
  expect(lastResult(read('usage-limit'))?.failure).toEqual({
    kind: 'rate-limited',
    message: expect.stringContaining('hit your usage limit'),
    retryAt: new Date(2026, 10, 17, 5, 30).getTime(),
  });
});

test('a failed login is known from the first retry on', () => {
  const message =
    'unexpected status 401 Unauthorized: Incorrect API key provided, ' +
    'url: http://127.0.0.1:8999/v1/responses';
  expect(read('f401').find(({ type }) => type === 'retry')).toEqual({
    type: 'retry',
    attempt: 1,
    max: 5,
    delayMs: 0,
    failure: { kind: 'auth', message },
  });
});

test('an answer in the form of the schema is given as data', () => {
  expect(codex.outcome(end('schema', { kind: 'exited', code: 0 }))).toEqual({
    ok: true,
    text: '{"ok":true}',
    structured: { ok: true },
  });
});

test('a machine without user namespaces is told what it lacks', () => {
  const [warning] = read('no-sandbox')
    .filter(({ type }) => type === 'warning')
    .slice(1);
  const message =
    'Codex could not set up its sandbox, so its commands do not run. Let this machine create ' +
    'user namespaces (and install bubblewrap), or put the agent into another fence (sandbox: ' +
    'require) and give it the permissions bypassPermissions. bwrap: Creating new namespace ' +
    'failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)';
  expect(warning).toEqual({ type: 'warning', text: message });
  expect(lastResult(read('no-sandbox'))?.failure).toEqual({ kind: 'permanent', message });
});

test('a whole attempt reads as a short story', () => {
  const story = read('happy').filter(({ type }) => type !== 'activity');
  expect(story).toMatchInlineSnapshot(`
    [
      {
        "id": "01a1e0bc-1ea2-7b91-8e61-e2799a9fc3fd",
        "type": "session",
      },
      {
        "text": "Model metadata for \`gpt-5.1-codex\` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.",
        "type": "warning",
      },
      {
        "type": "thinking",
      },
      {
        "text": "I will write.",
        "type": "text",
      },
      {
        "id": "item_3",
        "input": {
          "command": "/bin/bash -lc 'echo hello > out.txt && git add -A && git commit -qm add && git log --oneline | wc -l'",
        },
        "name": "shell",
        "type": "tool.start",
      },
      {
        "id": "item_3",
        "ok": true,
        "output": "2
    ",
        "type": "tool.end",
      },
      {
        "text": "All done.",
        "type": "text",
      },
      {
        "ok": true,
        "text": "All done.",
        "type": "result",
        "usage": {
          "costUsd": 0,
          "inputTokens": 200,
          "outputTokens": 40,
        },
      },
    ]
  `);
});

test.each([
  '',
  '123',
  'null',
  '[]',
  '{',
  '{"type":"item.comp',
  '{"type":7}',
  '{"type":"error","message":7}',
  '{"type":"foreign","item":{}}',
  '\ufffd\ufffd',
])('a line that is not of the stream is no event: %j', (line) => {
  expect(codex.parser(jobOf()).stdout(line)).toEqual([]);
  expect(codex.parser(jobOf()).stderr(line)).toEqual([]);
});

test.each([
  ['{"type":"thread.started"}', { type: 'activity', what: 'thread.started' }],
  ['{"type":"turn.paused","x":1}', { type: 'activity', what: 'turn.paused' }],
  ['{"type":"item.started","item":7}', { type: 'activity', what: '' }],
  [
    '{"type":"item.updated","item":{"type":"todo_list"}}',
    { type: 'activity', what: 'item.updated' },
  ],
  [
    '{"type":"item.completed","item":{"type":"new_thing"}}',
    { type: 'activity', what: 'new_thing' },
  ],
])('a line of the stream without a meaning is a sign of life: %s', (line, event) => {
  expect(codex.parser(jobOf()).stdout(line)).toEqual([event]);
});

test('a line of many megabytes and a deep one are cut to a size that can be stored', () => {
  const output = 'x'.repeat(20_000_000);
  const item = { id: 'a', type: 'command_execution', command: output, aggregated_output: output };
  const lines = [JSON.stringify({ type: 'item.completed', item })];
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
  lines.push(`{"type":"item.started","item":{"type":"mcp_tool_call","arguments":${deep}}}`);
  const parser = codex.parser(jobOf());
  const events = lines.flatMap((line) => parser.stdout(line));
  expect(events.map(({ type }) => type)).toEqual(['tool.start', 'tool.end', 'tool.start']);
  expect(JSON.stringify(events).length).toBeLessThan(20_000);
});

function read(name: string): readonly AgentEvent[] {
  const parser = codex.parser(job(name));
  const log = join(DIR, `${name}.log`);
  const words = existsSync(log) ? linesOf(log).flatMap((line) => parser.stderr(line)) : [];
  const stream = linesOf(join(DIR, `${name}.jsonl`)).flatMap((line) => parser.stdout(line));
  return [...words, ...stream];
}

function linesOf(file: string): readonly string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

function job(name: string): Job {
  const schema = name === 'schema' ? { type: 'object' } : null;
  const resume = /resume|fork/.test(name) ? 'an earlier one' : null;
  return jobOf({ resume, options: { ...NO_OPTIONS, schema } });
}

function end(name: string, exit: Exit): AgentEnd {
  const events = read(name);
  const spoke = events.length > 0;
  const result = lastResult(events);
  return { exit, job: job(name), result, spoke, stdoutTail: '', stderrTail: '' };
}

function lastResult(events: readonly AgentEvent[]): (AgentEvent & { type: 'result' }) | null {
  return events.findLast((event) => event.type === 'result') ?? null;
}
