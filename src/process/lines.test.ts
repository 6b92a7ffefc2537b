/** Lines out of chunks, at every edge. */

import { expect, test } from 'vitest';
import { LineSplitter } from './lines.ts';

function split(chunks: readonly (string | Buffer)[], limit?: number): readonly unknown[] {
  const lines: unknown[] = [];
  const splitter = new LineSplitter((line, cut) => lines.push(cut ? [line, 'cut'] : line), limit);
  for (const chunk of chunks) splitter.push(Buffer.from(chunk as string));
  splitter.end();
  return lines;
}

test('lines are put together from chunks, and the last one needs no newline', () => {
  expect(split(['a', 'b\nc', '', '\n\n', 'end'])).toEqual(['ab', 'c', '', 'end']);
});

test('nothing comes of nothing, and a final newline adds no line', () => {
  expect(split([])).toEqual([]);
  expect(split(['a\n'])).toEqual(['a']);
});

test('carriage returns before a newline are dropped, others are kept', () => {
  expect(split(['a\r\n', 'b\r', '\nc\rd\n'])).toEqual(['a', 'b', 'c\rd']);
});

test('a character torn by the edge of a chunk is whole again', () => {
  const bytes = Buffer.from('é€😀\n');
  const single = Array.from(bytes, (byte) => Buffer.from([byte]));
  expect(split(single)).toEqual(['é€😀']);
});

test('bytes that are no UTF-8 become replacement characters', () => {
  expect(split([Buffer.from([0x61, 0xff, 0x62, 0x0a])])).toEqual(['a\uFFFDb']);
});

test('a line beyond the limit is cut and flagged, and the next line is whole', () => {
  expect(split(['abc', 'defgh', 'ijk\nok\n', 'abcd\n'], 4)).toEqual([
    ['abcd', 'cut'],
    'ok',
    'abcd',
  ]);
});

test('lines that end with NUL keep newlines and carriage returns', () => {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line), undefined, 'nul');
  for (const chunk of ['a\n', 'b\r\0', '\0c']) splitter.push(Buffer.from(chunk));
  splitter.end();
  expect(lines).toEqual(['a\nb\r', '', 'c']);
});
