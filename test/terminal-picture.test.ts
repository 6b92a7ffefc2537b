/** The picture of a terminal: what it shows, for how long, and that text stays text. */

import { expect, test } from 'vitest';
import { framesOf, type Piece, svgOf } from '../scripts/terminal-picture.ts';

const SIZE = { columns: 20, rows: 2 };

function played(pieces: readonly Piece[]) {
  return framesOf({ ...SIZE, pieces });
}

test('a frame is what the terminal shows after cursor moves and colours', async () => {
  const frames = await played([
    { afterMs: 0, text: 'one\r\n\x1b[31mtwo\x1b[0m' },
    { afterMs: 400, text: '\r\x1b[1A\x1b[KONE' },
  ]);
  const two = { column: 0, text: 'two', style: 'fill="#ff7b72"' };
  const one = (text: string) => ({ column: 0, text, style: 'fill="#e6edf3"' });
  expect(frames).toEqual([
    { rows: [[one('one')], [two]], ms: 400 },
    { rows: [[one('ONE')], [two]], ms: 5_000 },
  ]);
});

test('short-lived frames are left out, and a long wait is cut short', async () => {
  const frames = await played([
    { afterMs: 0, text: 'a' },
    { afterMs: 30, text: '\rb' },
    { afterMs: 60_000, text: '\rc' },
  ]);
  expect(frames.map(({ rows, ms }) => [rows[0]?.[0]?.text, ms])).toEqual([
    ['b', 1_500],
    ['c', 5_000],
  ]);
});

test('the picture draws a row once, escapes its text, and can stand still', async () => {
  const frames = await played([
    { afterMs: 0, text: '<a> & "b"\r\nsame' },
    { afterMs: 400, text: '\r\x1b[1A\x1b[Know' },
  ]);
  const svg = svgOf(frames, SIZE.columns, 'landfast demo');
  expect(
    svg.match(/<text[^>]*>([^<]*)<\/text>/g)?.map((text) => text.replace(/<[^>]*>/g, '')),
  ).toEqual(['landfast demo', '&lt;a&gt; &amp; &quot;b&quot;', 'same', 'now']);
  expect(svg).toContain('7.407%{transform:translateX(-200px)}');
  expect(svg).toContain('(prefers-reduced-motion:reduce){.film{animation:none');
});
