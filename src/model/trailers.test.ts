import { expect, test } from 'vitest';
import { landingTrailers, withTrailers } from './trailers.ts';

test('a landed commit names its task, its run, who made it and what that cost', () => {
  const by = { agent: 'claude', model: 'opus' };
  expect(landingTrailers('r1', 'login', { by, costUsd: 0.1234 })).toEqual([
    'Landfast-Task: login',
    'Landfast-Run: r1',
    'Landfast-Agent: claude/opus',
    'Landfast-Cost: $0.12',
  ]);
});

test('what is not known is not said', () => {
  expect(landingTrailers('r1', 'login', { by: null, costUsd: 0 })).toEqual([
    'Landfast-Task: login',
    'Landfast-Run: r1',
  ]);
  expect(landingTrailers('r1', 'login', { by: { agent: 'shell' }, costUsd: 0 }).at(-1)).toBe(
    'Landfast-Agent: shell',
  );
});

test('a value cannot begin a line of its own', () => {
  const by = { agent: 'x', model: 'a\nSigned-off-by: b' };
  expect(landingTrailers('r1', 't', { by, costUsd: 0 })[2]).toBe(
    'Landfast-Agent: x/a Signed-off-by: b',
  );
});

test.each([
  ['Subject', 'Subject\n\nA: b\n'],
  ['fix: subject', 'fix: subject\n\nA: b\n'],
  ['Subject\n\nA body.\n', 'Subject\n\nA body.\n\nA: b\n'],
  ['Subject\n\nBody: yes\nor no', 'Subject\n\nBody: yes\nor no\n\nA: b\n'],
  ['Subject\n\nRefs: #1\n', 'Subject\n\nRefs: #1\nA: b\n'],
])('trailers after %j', (message, expected) => {
  expect(withTrailers(message, ['A: b'])).toBe(expected);
});

test('without trailers a message stays as it is', () => {
  expect(withTrailers('Subject', [])).toBe('Subject\n');
});
