/**
 * Every recorded conversation with a real agent, played to our side of it: what it ended as, what
 * it used, whose session it was, and how we answered. A new version of an agent adds recordings and
 * rows here.
 *
 * A line of a recording is a message, with `dir`: `>` was said by a client, `<` by the agent.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acp } from '../../src/agents/acp.ts';
import type { Job } from '../../src/agents/agent.ts';
import type { AgentEvent, Usage } from '../../src/model/agent-event.ts';
import type { FailureKind } from '../../src/model/failure.ts';
import { jobOf } from '../support/job.ts';

const DIR = join(import.meta.dirname, '../fixtures/transcripts/acp');

interface Expected {
  readonly session: string | null;
  /** Dollars, tokens in, tokens out. */
  readonly usage?: readonly [number, number, number];
  readonly tools?: readonly string[];
  readonly denied?: readonly string[];
}

const NEW: Partial<Job> = {};
const LOADED = { resume: 'ses_e1e486766ffeytfmlfmrRGmSqy' };

// biome-ignore format: a table is read by its rows
const ROWS: readonly [string, Partial<Job>, 'ok' | FailureKind, Expected][] = [
  ['claude-agent-acp', NEW, 'ok', { session: 'dbb6a236', usage: [0.002, 200, 40], tools: ['edit ok'] }],
  ['codex-acp', NEW, 'ok', { session: '01a1e0c3', tools: ['execute ok'] }],
  ['gemini', NEW, 'ok', { session: '0692e9ef', usage: [0, 200, 40], tools: ['edit ok'] }],
  ['gemini-denied', { permissions: 'default' }, 'ok', { session: '1f9a583e', usage: [0, 300, 60], tools: ['edit failed', 'execute failed'], denied: ['edit: Writing to a.txt', 'execute: touch b.txt'] }],
  ['gemini-limit', NEW, 'rate-limited', { session: '5381b7a1' }],
  ['gemini-wrong-key', NEW, 'auth', { session: '19d5dda2' }],
  ['opencode', NEW, 'ok', { session: 'ses_e1f3cc54', usage: [0.0012, 100, 20], tools: ['edit ok'] }],
  ['opencode-denied', NEW, 'ok', { session: 'ses_e1e48864', usage: [0.0012, 100, 20], tools: ['edit ok', 'execute failed'], denied: ['execute: touch b.txt'] }],
  ['opencode-limit', NEW, 'rate-limited', { session: 'ses_e1e48390', usage: [0, 0, 0] }],
  ['opencode-loaded', LOADED, 'ok', { session: 'ses_e1e48676', usage: [0, 100, 20] }],
  ['opencode-lost', { resume: '00000000-0000-4000-8000-000000000009' }, 'session-lost', { session: null }],
];

test.each(ROWS)('%s', (name, part, ending, expected) => {
  const { events, answers, recordedAnswers } = play(name, part);
  const result = events.at(-1);

  expect({
    ending: result?.type === 'result' ? (result.failure?.kind ?? 'ok') : null,
    sessions: events.filter((event) => event.type === 'session').map(({ id }) => id.slice(0, 12)),
    usage: result?.type === 'result' && result.usage ? rounded(result.usage) : null,
    tools: toolsOf(events),
    denied: events.flatMap((event) => (event.type === 'denied' ? [event.tool] : [])),
    answers,
  }).toEqual({
    ending,
    sessions: expected.session === null ? [] : [expect.stringMatching(`^${expected.session}`)],
    usage: expected.usage ?? null,
    tools: expected.tools ?? [],
    denied: expected.denied ?? [],
    answers: recordedAnswers,
  });
});

test('every recording has its row', () => {
  const named = ROWS.map(([name]) => `${name}.jsonl`);
  expect(named.sort()).toEqual(readdirSync(DIR).sort());
});

test('a whole attempt reads as a short story', () => {
  const { events } = play('opencode', {});
  expect(events.filter(({ type }) => type !== 'activity')).toMatchInlineSnapshot(`
    [
      {
        "id": "ses_e1f3cc543ffe94knZL9WZ49e0a",
        "model": "mock/m1",
        "type": "session",
      },
      {
        "delta": true,
        "text": "writing",
        "type": "text",
      },
      {
        "text": "writing",
        "type": "text",
      },
      {
        "id": "toolu_0002",
        "input": {
          "content": "x",
          "filePath": "/repo/out.txt",
        },
        "name": "edit",
        "type": "tool.start",
      },
      {
        "id": "toolu_0002",
        "ok": true,
        "output": "Wrote file successfully.",
        "type": "tool.end",
      },
      {
        "delta": true,
        "text": "done",
        "type": "text",
      },
      {
        "type": "usage",
        "usage": {
          "costUsd": 0.0012,
          "inputTokens": 0,
          "outputTokens": 0,
        },
      },
      {
        "text": "done",
        "type": "text",
      },
      {
        "ok": true,
        "text": "done",
        "type": "result",
        "usage": {
          "costUsd": 0.0012,
          "inputTokens": 100,
          "outputTokens": 20,
        },
      },
    ]
  `);
});

test('words of the service are told as they are, without their wrapping', () => {
  const messages = ['gemini-limit', 'gemini-wrong-key', 'opencode-limit'].map((name) => {
    const result = play(name, {}).events.at(-1);
    return result?.type === 'result' ? result.failure : null;
  });
  expect(messages).toEqual([
    { kind: 'rate-limited', message: 'You have exhausted your daily quota on this model.' },
    { kind: 'auth', message: 'API key not valid. Please pass a valid API key.' },
    { kind: 'rate-limited', message: 'Internal error: scripted 429', guessed: true },
  ]);
});

test('a session that is loaded tells its past before the prompt: none of it is new', () => {
  const { events } = play('opencode-loaded', LOADED);
  expect(events.filter(({ type }) => type === 'text')).toEqual([
    { type: 'text', text: 'two', delta: true },
    { type: 'text', text: 'two' },
  ]);
});

interface Message {
  readonly dir: '<' | '>';
  readonly id?: number;
  readonly method?: string;
  readonly result?: object;
}

/**
 * Plays the agent's lines. What we ask is answered as it was in the recording; what only we ask,
 * such as for a mode, is granted.
 */
function play(name: string, part: Partial<Job>) {
  const text = readFileSync(join(DIR, `${name}.jsonl`), 'utf8').trimEnd();
  const recorded = text.split('\n').map((line) => JSON.parse(line) as Message);
  const recordedMethods = new Map(
    recorded.flatMap(({ dir, id, method }) => (dir === '>' && method ? [[id, method]] : [])),
  );
  const parser = acp.parser(jobOf(part));
  const events: AgentEvent[] = [];
  const asked = new Map<string, number>();
  const answers: object[] = [];
  const hear = (message: object) => {
    events.push(...parser.stdout(JSON.stringify(message)));
    listen();
  };
  const listen = () => {
    for (const line of parser.replies?.() ?? []) {
      const { id, method = '', result } = JSON.parse(line) as Message;
      if (result !== undefined) answers.push(result);
      else if ([...recordedMethods.values()].includes(method)) asked.set(method, id ?? 0);
      else hear({ jsonrpc: '2.0', id, result: {} });
    }
  };
  listen();
  for (const { dir, ...message } of recorded.filter((line) => line.dir === '<')) {
    const question = message.method === undefined ? recordedMethods.get(message.id) : undefined;
    hear(question === undefined ? message : { ...message, id: asked.get(question) });
  }
  expect(parser.isOver?.()).toBe(true);
  const recordedAnswers = recorded.flatMap(({ dir, result }) =>
    dir === '>' && result ? [result] : [],
  );
  return { events, answers, recordedAnswers };
}

function toolsOf(events: readonly AgentEvent[]): readonly string[] {
  const names = new Map(
    events.flatMap((event) => (event.type === 'tool.start' ? [[event.id, event.name]] : [])),
  );
  return events.flatMap((event) =>
    event.type === 'tool.end' ? [`${names.get(event.id)} ${event.ok ? 'ok' : 'failed'}`] : [],
  );
}

function rounded({ costUsd, inputTokens, outputTokens }: Usage): readonly number[] {
  return [Math.round(costUsd * 1e6) / 1e6, inputTokens, outputTokens];
}
