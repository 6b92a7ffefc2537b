/**
 * Every recorded stream of the real CLI through the parser: what it ended as, what it cost, whose
 * session it was. A new version of the CLI adds recordings and rows here.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentEnd } from '../../src/agents/agent.ts';
import { opencode } from '../../src/agents/opencode.ts';
import type { Exit } from '../../src/base/exit.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import type { FailureKind } from '../../src/model/failure.ts';
import { jobOf } from '../support/job.ts';

const DIR = join(import.meta.dirname, '../fixtures/transcripts/opencode');

interface Counts {
  readonly tools?: number;
  readonly failed?: number;
  readonly denied?: number;
}

/** Name; how it ended (null: without a result); answers of the model; the session; the rest. */
type Row = [string, 'ok' | FailureKind | null, number, string, Counts?];

// biome-ignore format: a table is read by its rows
const ROWS: readonly Row[] = [
  ['ask', null, 1, 'ses_e1f3e23ccffeCK3Oo84l7kJ6nL', { tools: 1, failed: 1, denied: 1 }],
  ['ask-auto', 'ok', 2, 'ses_e1f3e090fffeYBbHjst0dmCEuP', { tools: 1 }],
  ['badmodel', 'transient', 0, 'ses_e1f3da626ffePHLGuaLCgvb4av'],
  ['cmd-fail', 'ok', 2, 'ses_e1f3e5c70ffeXqSodEc9I5yzZ8', { tools: 1, failed: 1 }],
  ['deny', 'ok', 2, 'ses_e1f3e3fbbffec0yHpZfXZrH5TU', { tools: 1, failed: 1, denied: 1 }],
  ['f400', 'permanent', 0, 'ses_e1f3dc312ffegZVWxjs6wFfA8C'],
  ['f401', 'auth', 0, 'ses_e1f3ddf7cffek1lcw7eWbshlRO'],
  ['f429', 'rate-limited', 0, 'ses_e1f3fa02affeudnKeJmvbIZloR'],
  ['f500', 'transient', 0, 'ses_e1f3fa68effe2YAQNlVm7ZukrN'],
  ['f529', 'transient', 0, 'ses_e1f3f9f56ffeV4VK5UwZWTeA4o'],
  ['fconn', 'transient', 0, 'ses_e1f3f9f2bffe9wNSDCie1i0dMz'],
  ['happy', 'ok', 3, 'ses_e1f3fa46cffegW3A7khqw5evwI', { tools: 2 }],
  ['resume', 'ok', 1, 'ses_e1f3fa46cffegW3A7khqw5evwI'],
  ['sig-SIGINT', null, 0, 'ses_e1f3b10a3ffeUKlHrjDEDDT4km'],
  ['sig-SIGTERM', null, 0, 'ses_e1f3aed8effeeTQvo4bN0uDCxu'],
];

test.each(ROWS)('%s', (name, ending, answers, session, counts = {}) => {
  const events = read(name);
  const result = lastResult(events);
  const used = events.findLast((event) => event.type === 'usage')?.usage ?? null;
  const ends = events.filter((event) => event.type === 'tool.end');
  const count = (type: AgentEvent['type']) => events.filter((event) => event.type === type).length;

  expect({
    ending: result === null ? null : (result.failure?.kind ?? 'ok'),
    sessions: events.filter((event) => event.type === 'session').map(({ id }) => id),
    used: used && { ...used, costUsd: Math.round(used.costUsd * 1e6) / 1e6 },
    tools: ends.length,
    failed: ends.filter(({ ok }) => !ok).length,
    denied: count('denied'),
    started: count('tool.start'),
  }).toEqual({
    ending,
    sessions: [session],
    used:
      answers === 0
        ? null
        : {
            costUsd: Math.round(answers * 600) / 1e6,
            inputTokens: answers * 100,
            outputTokens: answers * 20,
          },
    tools: 0,
    failed: 0,
    denied: 0,
    started: counts.tools ?? 0,
    ...counts,
  });
});

test('every recording has its row', () => {
  const named = ROWS.map(([name]) => `${name}.jsonl`);
  expect(named.sort()).toEqual(readdirSync(DIR).sort());
});

test('where there is a result the exit code changes nothing', () => {
  for (const [name, ending] of ROWS.filter(([, ending]) => ending !== null)) {
    const outcomes = [0, 1].map((code) => opencode.outcome(end(name, { kind: 'exited', code })));
    expect(outcomes[0], name).toEqual(outcomes[1]);
    expect(outcomes[0]?.ok, name).toBe(ending === 'ok');
  }
});

test.each<[string, Exit, string]>([
  ['ask', { kind: 'exited', code: 0 }, 'It exited with code 0.'],
  ['sig-SIGINT', { kind: 'signalled', signal: 'SIGINT' }, 'It was ended by SIGINT.'],
  ['sig-SIGTERM', { kind: 'signalled', signal: 'SIGTERM' }, 'It was ended by SIGTERM.'],
])('%s began to work and ended without a result, whatever its exit code', (name, exit, how) => {
  const message = `The agent ended without a result. ${how}`;
  expect(opencode.outcome(end(name, exit))).toEqual({
    ok: false,
    failure: { kind: 'transient', message },
  });
});

test('a limit says when it ends: so long after the line was written as its header asks', () => {
  expect(lastResult(read('f429'))?.failure).toEqual({
    kind: 'rate-limited',
    message: 'scripted 429',
    retryAt: 1_794_772_098_192 + 3_000,
  });
});

test('an error that only points to the log is explained by the log', () => {
  const stderrTail =
    'timestamp=2026-11-15T23:40:03.971Z level=ERROR run=a60a5d4c message=failed ref=err_168d6db7 ' +
    'error="ProviderModelNotFoundError: Model not found: test/nope." cause="…"\n';
  const exit: Exit = { kind: 'exited', code: 1 };
  const message =
    'The agent does not know the model. ProviderModelNotFoundError: Model not found: test/nope.';
  expect(opencode.outcome({ ...end('badmodel', exit), stderrTail })).toEqual({
    ok: false,
    failure: { kind: 'permanent', message },
  });
});

test('a whole attempt reads as a short story', () => {
  const story = read('happy').map((event) => {
    if (event.type === 'tool.start') return `${event.type} ${event.name}`;
    if (event.type === 'tool.end') return `${event.type} ${event.ok}`;
    return event.type === 'text' ? event.text : event.type;
  });
  expect(story.filter((line) => line !== 'activity')).toEqual([
    'session',
    ...['I will write.', 'tool.start write', 'tool.end true', 'usage'],
    ...['tool.start bash', 'tool.end true', 'usage'],
    ...['All done.', 'usage', 'result'],
  ]);
  expect(lastResult(read('happy'))).toMatchObject({ ok: true, text: 'All done.', turns: 3 });
});

function read(name: string): readonly AgentEvent[] {
  const parser = opencode.parser(jobOf());
  const lines = readFileSync(join(DIR, `${name}.jsonl`), 'utf8').split('\n');
  return lines.filter((line) => line !== '').flatMap((line) => parser.stdout(line));
}

function end(name: string, exit: Exit): AgentEnd {
  const events = read(name);
  const spoke = events.length > 0;
  return { exit, job: jobOf(), result: lastResult(events), spoke, stdoutTail: '', stderrTail: '' };
}

function lastResult(events: readonly AgentEvent[]): (AgentEvent & { type: 'result' }) | null {
  return events.findLast((event) => event.type === 'result') ?? null;
}
