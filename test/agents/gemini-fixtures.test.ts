/**
 * Every recorded stream of the real CLI through the parser: what it ended as, what it used, whose
 * session it was. A new version of the CLI adds recordings and rows here.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentEnd } from '../../src/agents/agent.ts';
import { gemini } from '../../src/agents/gemini.ts';
import type { Exit } from '../../src/base/exit.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import type { FailureKind } from '../../src/model/failure.ts';
import { jobOf } from '../support/job.ts';

const DIR = join(import.meta.dirname, '../fixtures/transcripts/gemini');

interface Counts {
  readonly tools?: number;
  readonly denied?: number;
}

/** Name; how it ended (null: without a result); its exit code; tokens; the session; counts. */
type Row = [string, 'ok' | FailureKind | null, number, [number, number] | null, string, Counts?];

// biome-ignore format: a table is read by its rows
const ROWS: readonly Row[] = [
  ['cmd-fail', 'ok', 0, [200, 40], '8bf861bd', { tools: 1 }],
  ['deny', 'ok', 0, [200, 40], '60649b0c', { tools: 1, denied: 1 }],
  ['f400', 'auth', 144, [0, 0], '49ed132b'],
  ['f401', 'auth', 145, [0, 0], 'fd1f4104'],
  ['f429-daily', 'rate-limited', 173, [0, 0], '60263e92'],
  ['f429', null, 137, null, '830f3fe3'],
  ['f500', null, 137, null, '3df71de4'],
  ['fconn', null, 137, null, '8a1cbc6c'],
  ['fhang', null, 137, null, '09bb6a1e'],
  ['happy', 'ok', 0, [300, 60], '77777777', { tools: 2 }],
  ['resume-latest', 'ok', 0, [100, 20], '77777777'],
  ['resume', 'ok', 0, [100, 20], '77777777'],
  ['sig-SIGINT', null, 0, null, '7cee25b0'],
  ['sig-SIGTERM', null, 143, null, '3a1ae0f2'],
];

test.each(ROWS)('%s', (name, ending, code, tokens, session, counts = {}) => {
  const events = read(name);
  const result = lastResult(events);
  const outcome = gemini.outcome(end(events, { kind: 'exited', code }));
  const count = (type: AgentEvent['type']) => events.filter((event) => event.type === type).length;

  expect({
    ending: result === null ? null : (result.failure?.kind ?? 'ok'),
    outcome: outcome.ok ? 'ok' : outcome.failure.kind,
    usage: result?.usage ?? null,
    sessions: events.filter((event) => event.type === 'session').map(({ id }) => id.slice(0, 8)),
    tools: count('tool.end'),
    denied: count('denied'),
  }).toEqual({
    ending,
    outcome: ending ?? 'transient',
    usage: tokens && { costUsd: 0, inputTokens: tokens[0], outputTokens: tokens[1] },
    sessions: [session],
    tools: 0,
    denied: 0,
    ...counts,
  });
});

test('every recording has its row', () => {
  const named = ROWS.map(([name]) => `${name}.jsonl`);
  expect(named.sort()).toEqual(readdirSync(DIR).sort());
});

test('a daily limit has no time of its own', () => {
  expect(lastResult(read('f429-daily'))?.failure).toEqual({
    kind: 'rate-limited',
    message: 'The service answered 429: You have exhausted your daily quota on this model.',
  });
});

test('a whole attempt reads as a short story', () => {
  expect(read('deny')).toMatchInlineSnapshot(`
    [
      {
        "id": "60649b0c-4bc9-40cd-8e9c-08fbd77326b3",
        "model": "gemini-2.5-pro",
        "type": "session",
      },
      {
        "type": "activity",
        "what": "message",
      },
      {
        "id": "run_shell_command__run_shell_command_1794772015467_0",
        "input": {
          "command": "touch nope.txt",
          "description": "x",
        },
        "name": "run_shell_command",
        "type": "tool.start",
      },
      {
        "id": "run_shell_command__run_shell_command_1794772015467_0",
        "ok": false,
        "output": "Tool "run_shell_command" not found. Did you mean one of: "update_topic", "grep_search", "invoke_agent"?",
        "type": "tool.end",
      },
      {
        "id": "run_shell_command__run_shell_command_1794772015467_0",
        "tool": "run_shell_command",
        "type": "denied",
      },
      {
        "delta": true,
        "text": "ok",
        "type": "text",
      },
      {
        "text": "ok",
        "type": "text",
      },
      {
        "ok": true,
        "text": "ok",
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

test('half of a recording, or one with other lines in between, never throws', () => {
  for (const [name] of ROWS) {
    const text = readFileSync(join(DIR, `${name}.jsonl`), 'utf8');
    const parser = gemini.parser(jobOf());
    for (let cut = 0; cut < text.length; cut += 7) {
      const lines = `123\n${text.slice(0, cut)}\n{"type":\n\u0000\ufffd`.split('\n');
      expect(() => lines.map((line) => [parser.stdout(line), parser.stderr(line)])).not.toThrow();
    }
  }
});

function read(name: string): readonly AgentEvent[] {
  const parser = gemini.parser(jobOf());
  const lines = readFileSync(join(DIR, `${name}.jsonl`), 'utf8').split('\n');
  return lines.filter((line) => line !== '').flatMap((line) => parser.stdout(line));
}

function end(events: readonly AgentEvent[], exit: Exit): AgentEnd {
  const spoke = events.length > 0;
  return { exit, job: jobOf(), result: lastResult(events), spoke, stdoutTail: '', stderrTail: '' };
}

function lastResult(events: readonly AgentEvent[]): (AgentEvent & { type: 'result' }) | null {
  return events.findLast((event) => event.type === 'result') ?? null;
}
