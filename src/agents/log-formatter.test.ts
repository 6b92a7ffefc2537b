import { expect, test } from 'vitest';
import type { AgentEvent } from '../model/agent-event.ts';
import { EventFormatter } from './log-formatter.ts';

test('an agent with a stream is told by what it did, not by its lines', () => {
  const formatter = new EventFormatter({ plain: false });
  const events: readonly AgentEvent[] = [
    { type: 'session', id: '0123456789', model: 'o5' },
    { type: 'text', text: 'Looking', delta: true },
    { type: 'text', text: 'Looking around.' },
    { type: 'tool.start', id: '1', name: 'shell', input: { command: 'ls\npwd' } },
    { type: 'tool.end', id: '1', ok: true, output: 'a b' },
    { type: 'usage', usage: { costUsd: 0, inputTokens: 1, outputTokens: 1 } },
    { type: 'result', ok: true, text: 'Done.' },
  ];
  const told = events.map((event, i) => formatter.format({ from: 'agent', event }, 1_000 * i));
  expect(formatter.format({ from: 'stdout', text: '{"json":1}' }, 0)).toBe('');
  expect(formatter.format({ from: 'stderr', text: 'a warning' }, 0)).toBe('a warning\n');
  expect(told.join('')).toBe(`[INIT] Session: 01234567... Model: o5
Looking around.
[TOOL] shell: ls pwd
[RESULT] a b

[COMPLETE] Duration: 6.0s
Done.
`);
});

test('a plain program is told by what it prints', () => {
  const formatter = new EventFormatter({ plain: true });
  expect(formatter.format({ from: 'stdout', text: 'hello' }, 0)).toBe('hello\n');
  expect(formatter.format({ from: 'agent', event: { type: 'text', text: 'hello' } }, 0)).toBe('');
});
