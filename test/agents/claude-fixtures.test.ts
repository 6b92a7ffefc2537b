/**
 * Every recorded stream of the real CLI through the parser: what it ended as, what it cost, whose
 * session it was. A new version of the CLI adds recordings and rows here.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentEnd } from '../../src/agents/agent.ts';
import { claude } from '../../src/agents/claude.ts';
import type { Exit } from '../../src/base/exit.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import type { FailureKind } from '../../src/model/failure.ts';
import { jobOf } from '../support/job.ts';

const DIR = join(import.meta.dirname, '../fixtures/transcripts/claude');

interface Counts {
  readonly tools?: number;
  readonly retries?: number;
  readonly denied?: number;
  readonly results?: number;
}

/** Name; how it ended (null: without a result); dollars; the beginning of the session's id. */
type Row = [string, 'ok' | FailureKind | null, number | null, string | null, Counts?];

// biome-ignore format: a table is read by its rows
const ROWS: readonly Row[] = [
  ['acceptedits', 'ok', 0.004, 'e69ff130', { tools: 4, denied: 2 }],
  ['argv-dashdash', 'ok', 0.0008, '5f29964a'],
  ['bad-input', 'ok', 0.0016, '30ec38ec', { tools: 1 }],
  ['bare', 'ok', 0.0016, 'e9508b6e', { tools: 1 }],
  ['bash-bg-long', 'ok', 0.0016, 'ec2a0eb5', { tools: 1 }],
  ['bash-daemon', 'ok', 0.0016, '5b9a464d', { tools: 1 }],
  ['bash-fail', 'ok', 0.0016, '5a87380c', { tools: 1 }],
  ['bash-timeout', 'ok', 0.0016, 'e2df6efa', { tools: 1 }],
  ['bgdisabled-bg', 'ok', 0.0016, '30c61ca3', { tools: 1 }],
  ['bgdisabled-timeout', 'ok', 0.0016, '6708d31b', { tools: 1 }],
  ['bidi-badline', null, null, null],
  ['bidi-interrupt', 'ok', 0.0016, '3c348dc4', { tools: 1, results: 2 }],
  ['bidi-multiturn', 'ok', 0.0016, '047f334f', { results: 2 }],
  ['bidi-permission', 'ok', 0.0024, '29738911', { tools: 2, denied: 1 }],
  ['budget', 'budget', 0.44, 'da7b74bd'],
  ['compact', 'ok', 11.842, '5907c628', { tools: 1 }],
  ['custom-agent-inline', 'ok', 0.00002, '43a8aedd'],
  ['custom-agent', 'ok', 0.0004, '6d107f51'],
  ['deny-default', 'ok', 0.004, 'd2039ea1', { tools: 4, denied: 2 }],
  ['deny-dontask', 'ok', 0.0032, 'ce7b30bd', { tools: 3, denied: 2 }],
  ['deny-rule', 'ok', 0.0024, '2a662ec0', { tools: 2, denied: 2 }],
  ['f400-credit', 'billing', 0, '58b00edd'],
  ['f400-toolong', 'permanent', 0, 'e25d527d'],
  ['f400', 'permanent', 0, '06ba6688'],
  ['f401-max0', 'auth', 0, '475b202d'],
  ['f401-max2', 'auth', 0, 'a43472d5', { retries: 2 }],
  ['f401-oauth', 'auth', 0, 'de450fa9', { retries: 2 }],
  ['f401', 'auth', 0, '6d3106b3', { retries: 10 }],
  ['f403', 'auth', 0, 'e37f1bc8'],
  ['f404-model', 'permanent', 0, '752d853f'],
  ['f413', 'permanent', 0, 'ac30f795'],
  ['f429-forever', 'rate-limited', 0, '15d97cfc', { retries: 10 }],
  ['f429-max0', 'rate-limited', 0, 'cc416a80'],
  ['f429-max2', 'rate-limited', 0, 'f10c5816', { retries: 2 }],
  ['f429-noheader-forever', 'rate-limited', 0, 'c5b79b82', { retries: 10 }],
  ['f429-retryafter-120', 'rate-limited', 0, 'bcc5ba6d'],
  ['f429-retryafter-3600', 'rate-limited', 0, '410f947e'],
  ['f500-forever', 'transient', 0, '3bf1cb31', { retries: 10 }],
  ['f500-max2', 'transient', 0, '37e0e119', { retries: 2 }],
  ['f500-once', 'ok', 0.0008, '3f568c1e', { retries: 1 }],
  ['f529-fallback', 'ok', 0.0004, '955816cb', { retries: 2 }],
  ['f529-forever', 'transient', 0, '988727a1', { retries: 10 }],
  ['f529-max2', 'transient', 0, '7e374c5b', { retries: 2 }],
  ['f529-twice', 'ok', 0.0008, 'dfcced72', { retries: 2 }],
  ['fconnrefused-max2', 'transient', 0, '1a132df6', { retries: 2 }],
  ['fconnrefused', 'transient', 0, '58f01a02', { retries: 10 }],
  ['fdrop-before', 'ok', 0.0008, 'e86f9092', { retries: 1 }],
  ['fdrop-mid-forever', 'ok', 0.00332, '842ad739', { retries: 10 }],
  ['fdrop-mid', 'ok', 0.0008, '9330d39c', { retries: 1 }],
  ['fempty-stream', 'ok', 0.0016, '21bc7c34'],
  ['fhang-headers', null, null, '17d0c3a0', { retries: 1 }],
  ['fhang-stream', 'ok', 0.0008, 'fdb12da1'],
  ['fmalformed-once', 'ok', 0.0008, '79c71e0f'],
  ['fmalformed', 'transient', 0.0016, '3b11a785'],
  ['fmaxtokens', 'ok', 0.0016, '1863f54f'],
  ['frefusal', 'permanent', 0.0016, '53914080'],
  ['fsse-overloaded', 'ok', 0.00122, '79176fee'],
  ['hang-headers-apitimeout', 'transient', 0, 'dd4a2316', { retries: 1 }],
  ['hang-stream-killed', null, null, 'd7cd613d'],
  ['happy', 'ok', 0.0024, '4959a4cd', { tools: 2 }],
  ['hook-deny', 'ok', 0.0016, '0c3d119d', { tools: 1, denied: 1 }],
  ['hooks', 'ok', 0.0016, '6f2362e2', { tools: 1 }],
  ['long-bash-heartbeat', 'ok', 0.0016, '5c2593df', { tools: 1 }],
  ['long-bash2-partial', 'ok', 0.0016, '4f68a543', { tools: 1 }],
  ['maxturns', 'turns', 0.0016, '7de4a995', { tools: 2 }],
  ['mcp-broken', 'ok', 0.0008, '0e7ac35c'],
  ['mcp', 'ok', 0.0016, 'c2be7012', { tools: 1 }],
  ['no-key', 'auth', 0, 'd6587048'],
  ['partial', 'ok', 0.0016, 'e2a715b0', { tools: 1 }],
  ['plan', 'ok', 0.0016, '4438edd3', { tools: 1, denied: 1 }],
  ['rl-apikey-std', 'rate-limited', 0, '2b0066e9'],
  ['rl-apikey-unified', 'rate-limited', 0, 'ca475e4e'],
  ['rl-oauth-allowed', 'ok', 0.0004, '7cb3e4fb'],
  ['rl-oauth-rejected', 'rate-limited', 0, 'b1a58698'],
  ['root-no-sandbox-startupres', 'permanent', 0, null],
  ['schema-bad', 'schema', 0.004, '862c14c3', { tools: 5 }],
  ['schema', 'ok', 0.0008, '41d19fe2', { tools: 1 }],
  ['settings-inline', 'ok', 0.0016, 'a137f809', { tools: 1 }],
  ['signal-hup-bash', null, null, '37fa31c7', { tools: 1 }],
  ['signal-int-bash', 'interrupted', 0.0008, '7b0f0181', { tools: 1 }],
  ['signal-kill-bash', null, null, 'f3723965'],
  ['signal-killgroup-bash', null, null, 'afbbb51c'],
  ['signal-term-bash', null, null, '67489120', { tools: 1 }],
  ['signal-term-nohup', null, null, '652462ef', { tools: 1 }],
  ['signal-term-stream', null, null, '15a41667', { tools: 1 }],
  ['signal-termgroup-bash', null, null, 'd201fe91', { tools: 1 }],
  ['slash-compact', 'ok', 0, '940f07f6'],
  ['slash-cost', 'ok', 0, '9dfd7cd4'],
  ['slash-unknown', 'ok', 0.0008, '866a8d74'],
  ['slow-stream', 'ok', 0.0008, '2f95f433'],
  ['stdin-open-never-closed', 'ok', 0.0008, '45e02376'],
  ['stdin-plus-arg', 'ok', 0.0008, '5e4f97e1'],
  ['unknown-tool', 'ok', 0.0016, '0733dc08', { tools: 1 }],
  ['worktree-flag', 'ok', 0.0016, '85696fda', { tools: 1 }],
];

test.each(ROWS)('%s', (name, ending, costUsd, session, counts = {}) => {
  const events = read(name);
  const result = lastResult(events);
  const count = (type: AgentEvent['type']) => events.filter((event) => event.type === type).length;

  expect({
    ending: result === null ? null : (result.failure?.kind ?? 'ok'),
    costUsd: result?.usage === undefined ? null : Math.round(result.usage.costUsd * 1e6) / 1e6,
    sessions: events.filter((event) => event.type === 'session').map(({ id }) => id.slice(0, 8)),
    tools: count('tool.end'),
    retries: count('retry'),
    denied: count('denied'),
    results: count('result'),
  }).toEqual({
    ending,
    costUsd,
    sessions: session === null ? [] : [session],
    tools: 0,
    retries: 0,
    denied: 0,
    results: ending === null ? 0 : 1,
    ...counts,
  });
});

test('every recording has its row', () => {
  const named = ROWS.map(([name]) => `${name}.jsonl`);
  expect(named.sort()).toEqual(readdirSync(DIR).sort());
});

test('where there is a result the exit code changes nothing', () => {
  for (const [name, ending] of ROWS.filter(([, ending]) => ending !== null)) {
    const outcomes = [0, 1].map((code) => claude.outcome(end(name, { kind: 'exited', code })));
    expect(outcomes[0], name).toEqual(outcomes[1]);
    expect(outcomes[0]?.ok, name).toBe(ending === 'ok');
  }
});

test.each<[string, Exit, string]>([
  ['signal-term-bash', { kind: 'exited', code: 143 }, 'It exited with code 143.'],
  ['signal-hup-bash', { kind: 'exited', code: 129 }, 'It exited with code 129.'],
  ['signal-kill-bash', { kind: 'signalled', signal: 'SIGKILL' }, 'It was ended by SIGKILL.'],
  ['hang-stream-killed', { kind: 'exited', code: 0 }, 'It exited with code 0.'],
])('%s began to work and ended without a result: it may be tried again', (name, exit, how) => {
  const message = `The agent ended without a result. ${how}`;
  expect(claude.outcome(end(name, exit))).toEqual({
    ok: false,
    failure: { kind: 'transient', message },
  });
});

test('a subscription’s limit says when it resets, in milliseconds', () => {
  const retryAt = 1_794_778_288_000;
  const events = read('rl-oauth-rejected');
  expect(events.find(({ type }) => type === 'limit')).toEqual({
    type: 'limit',
    status: 'rejected',
    resetsAt: retryAt,
  });
  expect(lastResult(events)?.failure).toEqual({
    kind: 'rate-limited',
    message: "You've hit your 5-hour limit · resets 9:31pm (UTC)",
    retryAt,
  });
});

test('a failed login is known from the first retry on', () => {
  expect(read('f401').find(({ type }) => type === 'retry')).toMatchObject({
    attempt: 1,
    failure: { kind: 'auth', message: 'The service answered 401 (authentication_failed).' },
  });
});

test('a whole attempt reads as a short story', () => {
  expect(read('mcp')).toMatchInlineSnapshot(`
    [
      {
        "cwd": "/repo",
        "id": "c2be7012-a460-4f33-b8e9-48f0113ae7b2",
        "model": "claude-opus-5-5",
        "type": "session",
      },
      {
        "id": "toolu_0028",
        "input": {
          "text": "hey",
        },
        "name": "mcp__echo__echo",
        "type": "tool.start",
      },
      {
        "id": "toolu_0028",
        "ok": true,
        "output": "echo:hey",
        "type": "tool.end",
      },
      {
        "text": "ok",
        "type": "text",
      },
      {
        "ok": true,
        "text": "ok",
        "turns": 2,
        "type": "result",
        "usage": {
          "costUsd": 0.0016,
          "inputTokens": 200,
          "outputTokens": 40,
        },
      },
    ]
  `);
});

function read(name: string): readonly AgentEvent[] {
  const parser = claude.parser(jobOf());
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
