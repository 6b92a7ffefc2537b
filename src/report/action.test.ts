/** The last action, in a few words. */

import { expect, test } from 'vitest';
import type { AgentEvent } from '../model/agent-event.ts';
import { ACTION_LENGTH, actionOf } from './action.ts';

const tool = (name: string, input: unknown): AgentEvent => ({
  type: 'tool.start',
  id: '1',
  name,
  input,
});

const CASES: readonly (readonly [AgentEvent, string | null])[] = [
  [tool('Edit', { file_path: 'src/a.ts', old_string: 'x' }), 'Edit src/a.ts'],
  [tool('Bash', { command: 'npm test\n# more', description: 'Run' }), 'Bash npm test # more'],
  [tool('shell', { command: ['bash', '-lc', 'npm test'] }), 'shell npm test'],
  [tool('shell', { command: ['git', 'status'] }), 'shell git status'],
  [tool('Grep', { pattern: 'TODO', path: 'src' }), 'Grep TODO'],
  [tool('mcp__github__search', { query: 'is:open' }), 'github search is:open'],
  [
    tool('Read', { file_path: `/home/me/repo.worktrees/users/${'deep/'.repeat(9)}a.ts` }),
    'Read …/deep/deep/deep/deep/deep/deep/a.ts',
  ],
  [tool('TodoWrite', { todos: [] }), 'TodoWrite'],
  [tool('Odd', null), 'Odd'],
  [
    { type: 'text', text: 'I will look at the tests first and then decide what to do.' },
    'I will look at the tests first and then deci…',
  ],
  [{ type: 'text', text: 'frag', delta: true }, null],
  [{ type: 'text', text: ' \n ' }, null],
  [{ type: 'thinking' }, 'thinking'],
  [
    {
      type: 'retry',
      attempt: 2,
      max: 10,
      delayMs: 12_000,
      failure: { kind: 'transient', message: '' },
    },
    'waits 12 s to retry (2/10)',
  ],
  [{ type: 'limit', status: 'rejected' }, 'usage limit reached'],
  [{ type: 'limit', status: 'warning' }, null],
  [{ type: 'denied', tool: 'Bash' }, 'denied: Bash'],
  [{ type: 'activity', what: 'system', background: 2 }, '2 in the background'],
  [{ type: 'activity', what: 'system' }, null],
  [{ type: 'tool.end', id: '1', ok: true, output: 'x' }, null],
  [
    { type: 'result', ok: false, text: '', failure: { kind: 'auth', message: '' } },
    'stopped: auth',
  ],
];

test.each(CASES)('%j', (event, expected) => {
  expect(actionOf(event)).toBe(expected);
});

test('hostile input is one short clean line', () => {
  const evil = `\x1b]0;owned\x07\x1b[2J${'x\n'.repeat(10_000)}`;
  const events = [tool(evil, { command: evil }), tool('Edit', { file_path: evil })];
  for (const event of [...events, { type: 'text', text: evil } as const]) {
    const action = actionOf(event) ?? '';
    expect([...action].length).toBeLessThanOrEqual(ACTION_LENGTH);
    expect(action).toMatch(/^[^\x00-\x1f\x7f-\x9f]+$/);
  }
});
