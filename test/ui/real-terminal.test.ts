/** The live view on the terminal emulation that editors and browsers use. */

import headless, { type Terminal } from '@xterm/headless';
import { expect, test } from 'vitest';
import { frame } from '../../src/tui/live.ts';
import { Painter } from '../../src/tui/painter.ts';
import { JournalBuilder, START } from '../support/journal-builder.ts';

const IDS = Array.from({ length: 11 }, (_, nth) => `task-with-a-rather-long-name-${nth}`);

/** Seven of eleven tasks have landed, and the others run or wait. */
const state = (() => {
  const run = new JournalBuilder(IDS.map((id) => ({ id, title: `Do what ${id} says` })));
  for (const id of IDS.slice(0, 7)) run.start(id).use(id, 0.25).finish(id).land(id);
  return run.start('task-with-a-rather-long-name-7').state();
})();

function framed(width: number, height: number): readonly string[] {
  const actions = new Map([[IDS[7]!, 'x'.repeat(300)]]);
  const at = { now: START + 90_000, width, height: height - 1 };
  return frame({ run: 'r1', state, ...at, actions, color: false });
}

/** What is to be seen, without empty rows at the end. */
async function seen(terminal: Terminal): Promise<readonly string[]> {
  await new Promise<void>((resolve) => terminal.write('', resolve));
  const { active } = terminal.buffer;
  const rows = Array.from({ length: terminal.rows }, (_, row) =>
    (active.getLine(active.viewportY + row)?.translateToString(true) ?? '').trimEnd(),
  );
  return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1);
}

function open(cols: number, rows: number): { terminal: Terminal; painter: Painter } {
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true });
  const painter = new Painter({
    write: (text: string) => terminal.write(text),
    get columns() {
      return terminal.cols;
    },
    get rows() {
      return terminal.rows;
    },
  });
  return { terminal, painter };
}

test.each([20, 44, 63, 80, 100, 137, 200])(
  'at %i columns every column of the frame is seen',
  async (width) => {
    const { terminal, painter } = open(width, 24);
    painter.draw(['x'.repeat(width), 'y'.repeat(width)]);
    painter.draw(framed(width, 24));
    const shown = await seen(terminal);
    expect(shown).toEqual(framed(width, 24));
    expect(shown.some((row) => row.length === width)).toBe(true);
  },
);

test('a window made narrower, wider, lower and higher shows one whole frame', async () => {
  const { terminal, painter } = open(80, 30);
  terminal.write('kept\r\n');
  painter.draw(framed(80, 30));
  expect(await seen(terminal)).toEqual(['kept', ...framed(80, 30)]);
  for (const width of [50, 110, 64, 160]) {
    terminal.resize(width, 30);
    painter.draw(framed(width, 30));
    expect(await seen(terminal)).toEqual(['kept', ...framed(width, 30)]);
  }
  terminal.resize(160, 9);
  painter.draw(framed(160, 9));
  expect(await seen(terminal)).toEqual(framed(160, 9));
  terminal.resize(160, 30);
  painter.draw(framed(160, 30));
  expect((await seen(terminal)).slice(-framed(160, 30).length)).toEqual(framed(160, 30));
  painter.close();
  expect((await seen(terminal)).join('\n')).not.toContain('1 running');
});
