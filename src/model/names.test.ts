import { expect, test } from 'vitest';
import { taskSpec } from '../../test/support/journal-builder.ts';
import { commitMessage, mergeMessage } from './names.ts';
import { NATIVE_CONVENTIONS } from './plan.ts';

const task = taskSpec({ id: 'login', title: 'Log in', prompt: 'x' });
const template = '{task} ({title}) by {agent}/{model} in {run}';
const ways = {
  ...NATIVE_CONVENTIONS,
  commitMessage: template,
  mergeMessage: `${template} for {cost}`,
};

test('messages name the task, who made it and what that cost', () => {
  const by = { agent: 'claude', model: 'opus' };
  const said = 'login (Log in) by claude/opus in r1';
  expect(commitMessage(ways, 'r1', task, by)).toBe(said);
  expect(mergeMessage(ways, 'r1', task, { by, costUsd: 0.126 })).toBe(`${said} for $0.13`);
});

test('what nobody named has a word of its own', () => {
  expect(commitMessage(ways, 'r1', task, { agent: 'shell' })).toContain('by shell/default');
  const theirs = mergeMessage(ways, 'r1', task, { by: null, costUsd: 0 });
  expect(theirs).toContain('by somebody/default in r1 for $0.00');
});

test('what is filled in is not read again', () => {
  const odd = taskSpec({ id: 'a', title: 'Use {agent} and {task}' });
  expect(commitMessage(NATIVE_CONVENTIONS, 'r1', odd, null)).toBe('a: Use {agent} and {task}');
});
