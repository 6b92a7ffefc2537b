/** Headings, fences and lines of Markdown. */

import { expect, test } from 'vitest';
import { readMarkdown } from './markdown.ts';

test('tells headings, fences and lines apart', () => {
  const text = '\uFEFF# One ##\r\n\r\ntext\r\n   ~~~~ js  \r\n# no\r\n~~~\r\n~~~~~ \r\n###### Six';
  expect(readMarkdown(text)).toEqual([
    { kind: 'heading', line: 1, level: 1, text: 'One' },
    { kind: 'line', line: 2, text: '' },
    { kind: 'line', line: 3, text: 'text' },
    {
      kind: 'fence',
      line: 4,
      column: 4,
      marks: '~~~~',
      info: 'js',
      lines: ['# no', '~~~'],
      closed: true,
    },
    { kind: 'heading', line: 8, level: 6, text: 'Six' },
  ]);
});

test('a fence that is never closed goes on to the end', () => {
  expect(readMarkdown('````\n```\nx')).toEqual([
    {
      kind: 'fence',
      line: 1,
      column: 1,
      marks: '````',
      info: '',
      lines: ['```', 'x'],
      closed: false,
    },
  ]);
});

test('code in a sentence and a hash without a blank are lines', () => {
  expect(readMarkdown('```not a fence```\n#tag').map(({ kind }) => kind)).toEqual(['line', 'line']);
});
