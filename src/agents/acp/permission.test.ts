/** What an agent is told when it asks for leave, and what is told of a denial. */

import { expect, test } from 'vitest';
import { CHOICES, permission, Talk } from '../../../test/support/acp-talk.ts';
import type { Job } from '../agent.ts';

// biome-ignore format: a table is read by its rows
test.each<[Partial<Job>, object, string]>([
  [{ permissions: 'bypassPermissions' }, { kind: 'execute' }, 'yes'],
  [{ permissions: 'bypassPermissions', readOnly: true }, { kind: 'edit' }, 'no'],
  [{ permissions: 'acceptEdits' }, { kind: 'edit' }, 'yes'],
  [{ permissions: 'acceptEdits' }, { kind: 'delete', locations: [{ path: 'a/../b.txt' }] }, 'yes'],
  [{ permissions: 'acceptEdits' }, { kind: 'move', locations: [{ path: '/repo/a' }, { path: '/repo/b' }] }, 'yes'],
  [{ permissions: 'acceptEdits' }, { kind: 'edit', locations: [{ path: '/etc/passwd' }] }, 'no'],
  [{ permissions: 'acceptEdits' }, { kind: 'edit', locations: [{ path: '/repository/a' }] }, 'no'],
  [{ permissions: 'acceptEdits' }, { kind: 'edit', locations: [{ path: '../a' }] }, 'no'],
  [{ permissions: 'acceptEdits' }, { kind: 'edit', content: [{ type: 'diff', path: '/repo/../a' }] }, 'no'],
  [{ permissions: 'acceptEdits' }, { kind: 'execute' }, 'no'],
  [{ permissions: 'acceptEdits' }, { kind: 'switch_mode' }, 'no'],
  [{ permissions: 'acceptEdits' }, {}, 'no'],
  [{ permissions: 'default' }, { kind: 'edit' }, 'no'],
  [{ permissions: 'dontAsk' }, { kind: 'read' }, 'no'],
])('asked with %j about %j the answer is for this once: %s', (part, toolCall, optionId) => {
  const talk = new Talk(part).begin().tell(permission(toolCall, CHOICES));
  expect(talk.said.at(-1)).toEqual({
    ...{ jsonrpc: '2.0', id: 'p1' },
    result: { outcome: { outcome: 'selected', optionId } },
  });
});

test('a tool that is denied is told so, has ended, and ends no second time', () => {
  const talk = new Talk().begin();
  const call = { toolCallId: 't1', title: 'rm -r x', kind: 'execute' };
  talk.update({ sessionUpdate: 'tool_call', ...call, status: 'pending', rawInput: {} });
  talk.tell(permission({ toolCallId: 't1', rawInput: { command: 'rm -r x' } }, CHOICES));
  talk.update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'failed' });
  expect(talk.meant).toEqual([
    { type: 'tool.start', id: 't1', name: 'execute', input: { command: 'rm -r x' } },
    { type: 'denied', tool: 'execute: rm -r x', id: 't1' },
    { type: 'tool.end', id: 't1', ok: false, output: 'Denied.' },
  ]);
});

test.each([
  ['bypassPermissions', [{ optionId: 'ever', kind: 'allow_always' }], 'selected', 0],
  ['bypassPermissions', [{ optionId: 'no', kind: 'reject_once' }], 'selected', 1],
  ['bypassPermissions', 'nonsense', 'cancelled', 1],
  ['default', [{ optionId: 'yes', kind: 'allow_once' }], 'cancelled', 1],
] as const)('with %s and the choices %j it is %s', (permissions, options, outcome, denials) => {
  const talk = new Talk({ permissions }).begin().tell(permission({ kind: 'edit' }, options));
  expect(talk.said.at(-1)?.result).toMatchObject({ outcome: { outcome } });
  expect(talk.meant.filter(({ type }) => type === 'denied')).toHaveLength(denials);
});
