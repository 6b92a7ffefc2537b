import { expect, test } from 'vitest';
import { StreamFormatter } from './log-formatter.ts';

/** What these lines of standard output are told as. */
function told(...lines: readonly (object | string)[]): string {
  const formatter = new StreamFormatter();
  return lines
    .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
    .map((text) => formatter.format({ from: 'stdout', text }))
    .join('');
}

const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
const answer = (content: unknown, id = '1') => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content }] },
});
const part = (event: object) => ({ type: 'stream_event', event });

test('a whole attempt reads as users know it', () => {
  const text = told(
    { type: 'system', subtype: 'init', session_id: '8b05f910-aaaa', model: 'opus' },
    part({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'I will ' } }),
    part({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'look.' } }),
    part({ type: 'content_block_stop' }),
    {
      type: 'assistant',
      message: {
        content: [
          { type: 'text', text: 'I will look.' },
          use('1', 'Bash', { command: 'git status' }),
          use('2', 'Edit', { file_path: 'src/a.py' }),
          use('3', 'TodoWrite', { todos: [] }),
        ],
      },
    },
    { type: 'user', tool_use_result: { stdout: 'On branch x' }, message: { content: [] } },
    answer([{ type: 'text', text: 'one' }, 'two']),
    part({ type: 'message_stop' }),
    'a plain line',
    '123',
    { type: 'rate_limit_event' },
    { type: 'result', duration_ms: 45_200, result: 'Done.' },
  );
  expect(text).toBe(`[INIT] Session: 8b05f910... Model: opus
I will look.
[TOOL] Bash: git status
[TOOL] Edit: src/a.py
[TOOL] TodoWrite
[RESULT] On branch x
[RESULT] one
two

---
a plain line
123

[COMPLETE] Duration: 45.2s
Done.
`);
});

test('a session without a name or a model is told as such', () => {
  expect(told({ type: 'system', subtype: 'init' })).toBe(
    '[INIT] Session: unknown... Model: unknown\n',
  );
});

test.each([
  [500, `[RESULT] ${'x'.repeat(500)}\n`],
  [501, `[RESULT] ${'x'.repeat(500)}... [501 chars]\n`],
  [1000, `[RESULT] ${'x'.repeat(500)}... [1000 chars]\n`],
  [1001, `[RESULT] (1,001 chars) ${'x'.repeat(200)}...\n`],
])('a result of %i characters', (length, line) => {
  expect(told(answer('x'.repeat(length)))).toBe(line);
});

test('a very long result names its tool and stays on one line', () => {
  const call = { type: 'assistant', message: { content: [use('7', 'Read', { path: 'a' })] } };
  expect(told(call, answer('ab\n'.repeat(500), '7'))).toBe(
    `[TOOL] Read: a\n[RESULT from Read] (1,500 chars) ${'ab '.repeat(67).slice(0, 200)}...\n`,
  );
});

test('commands and last words are cut', () => {
  const call = use('1', 'Bash', { command: `echo ${'y'.repeat(200)}` });
  expect(told({ type: 'assistant', message: { content: [call] } })).toBe(
    `[TOOL] Bash: echo ${'y'.repeat(95)}...\n`,
  );
  expect(told({ type: 'result', duration_ms: 1, result: 'z'.repeat(501) })).toBe(
    `\n[COMPLETE] Duration: 0.0s\n${'z'.repeat(500)}...\n`,
  );
});

test('what it says on standard error is told as it came', () => {
  expect(new StreamFormatter().format({ from: 'stderr', text: '{"type":"result"}' })).toBe(
    '{"type":"result"}\n',
  );
});

test.each(['null', '[]', '{', '{"type":"user"}', '{"type":"assistant","message":7}', '{}'])(
  'the line %s does no harm',
  (line) => {
    expect(told(line)).toBe(line.startsWith('{"') || line === '{}' ? '' : `${line}\n`);
  },
);
