import { expect, test } from 'vitest';
import type { AgentEvent } from '../model/agent-event.ts';
import { transcriptText } from './transcript-text.ts';

const clock = () => '12:03:04';
const widthOf = (text: string) => [...text].length;
const WIDE = { clock, width: Number.POSITIVE_INFINITY, widthOf, workspace: '/tmp/shop.work/one' };

const shown = (event: AgentEvent, more: Partial<typeof WIDE> = {}) =>
  transcriptText(0, event, { ...WIDE, ...more })?.split('\n');

test('a command is whole, however long, and on as many lines as it has', () => {
  const command = `cd src &&\n  npm test -- ${'a'.repeat(300)}`;
  expect(shown({ type: 'tool.start', id: '1', name: 'Bash', input: { command } })).toEqual([
    '12:03:04  Bash  cd src &&',
    `            npm test -- ${'a'.repeat(300)}`,
  ]);
});

test('a result keeps its lines and their indent', () => {
  const output = '\n1 failed\n  AssertionError: \x1b[31m3 == 4\x1b[0m\n\n  at x.js:1\n';
  expect(shown({ type: 'tool.end', id: '1', ok: true, output })).toEqual([
    '          | 1 failed',
    '          |   AssertionError: 3 == 4',
    '          |',
    '          |   at x.js:1',
  ]);
  expect(shown({ type: 'tool.end', id: '1', ok: false, output: 'no such file' })).toEqual([
    '          | error: no such file',
  ]);
  expect(shown({ type: 'tool.end', id: '1', ok: true, output: ' \n' })).toBeUndefined();
});

test('of a long result the begin and the end are shown', () => {
  const output = Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n');
  const lines = shown({ type: 'tool.end', id: '1', ok: true, output }) ?? [];
  expect(lines).toHaveLength(41);
  expect(lines[20]).toContain('… 60 more lines');
  expect(lines.at(-1)).toBe('          | line 99');
});

test('what does not fit is wrapped at a blank and indented', () => {
  const text = 'I will look at the tests first, and then at the code.';
  expect(shown({ type: 'text', text }, { width: 40 })).toEqual([
    '12:03:04  I will look at the tests',
    '          first, and then at the code.',
  ]);
  const url = 'x'.repeat(70);
  expect(shown({ type: 'text', text: url }, { width: 40 })).toEqual([
    `12:03:04  ${'x'.repeat(30)}`,
    `          ${'x'.repeat(30)}`,
    `          ${'x'.repeat(10)}`,
  ]);
});

test('paths in the workspace are told from there, and no others', () => {
  const input = { file_path: '/tmp/shop.work/one/src/a.ts' };
  expect(shown({ type: 'tool.start', id: '1', name: 'Edit', input })).toEqual([
    '12:03:04  Edit  src/a.ts',
  ]);
  const text = 'cd /tmp/shop.work/one && ls /tmp/shop.work/one-two/x /tmp/shop.work/one/';
  expect(shown({ type: 'text', text })).toEqual([
    '12:03:04  cd . && ls /tmp/shop.work/one-two/x ./',
  ]);
});

test('a tool without a known argument shows what it was given', () => {
  const input = { rows: 3, all: true };
  expect(shown({ type: 'tool.start', id: '1', name: 'mcp__db__dump', input })).toEqual([
    '12:03:04  db dump  {"rows":3,"all":true}',
  ]);
});
