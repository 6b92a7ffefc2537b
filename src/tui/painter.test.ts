/** Painter on a screen that obeys it. */

import { expect, test } from 'vitest';
import { Screen } from '../../test/support/screen.ts';
import { Painter } from './painter.ts';

test('a frame replaces the one before, also when it is shorter', () => {
  const screen = new Screen(20, 10);
  const painter = new Painter(screen);
  painter.draw(['one long line', 'two', 'three']);
  painter.draw(['uno', 'dos']);
  expect(screen.text()).toEqual(['uno', 'dos']);
  painter.draw(['a', 'b', 'c', 'd']);
  expect(screen.text()).toEqual(['a', 'b', 'c', 'd']);
});

test('a line as wide as the screen keeps its last column, in a frame and above it', () => {
  const screen = new Screen(10, 10);
  const painter = new Painter(screen);
  painter.draw(['landed 7/1', 'done 9/100']);
  painter.print(['0123456789']);
  painter.draw(['done 10/11', 'll 100/100']);
  expect(screen.text()).toEqual(['0123456789', 'done 10/11', 'll 100/100']);
});

test('a frame that has not changed is drawn again in a window of another size', () => {
  const screen = new Screen(10, 10);
  const painter = new Painter(screen);
  painter.draw(['one']);
  screen.columns = 8;
  painter.draw(['one']);
  painter.draw(['one']);
  expect(screen.writes).toHaveLength(2);
});

test('permanent lines stay above the frame', () => {
  const screen = new Screen(20, 10);
  const painter = new Painter(screen);
  painter.print(['before']);
  painter.draw(['frame 1', 'frame 2']);
  painter.print(['first fact', 'second fact']);
  painter.draw(['frame 3', 'frame 4']);
  expect(screen.text()).toEqual(['before', 'first fact', 'second fact', 'frame 3', 'frame 4']);
});

test('a full screen scrolls the permanent lines away and keeps the frame whole', () => {
  const screen = new Screen(20, 5);
  const painter = new Painter(screen);
  for (let n = 0; n < 10; n += 1) {
    painter.print([`fact ${n}`]);
    painter.draw([`a ${n}`, `b ${n}`, `c ${n}`, `d ${n}`]);
  }
  expect(screen.text().slice(-5)).toEqual(['fact 9', 'a 9', 'b 9', 'c 9', 'd 9']);
  expect(screen.text()).toHaveLength(14);
});

test('a terminal that does not tell its size gets the whole frame', () => {
  const screen = new Screen(20, 10);
  const unknown = { columns: 0, rows: 0, write: (text: string) => screen.write(text) };
  const painter = new Painter(unknown);
  painter.draw(['one', 'two']);
  painter.draw(['uno', 'dos']);
  expect(screen.text()).toEqual(['uno', 'dos']);
});

test('a frame taller than the screen is cut, not scrolled', () => {
  const screen = new Screen(20, 4);
  const painter = new Painter(screen);
  painter.draw(['1', '2', '3', '4', '5']);
  painter.draw(['6', '7', '8', '9', '10']);
  expect(screen.text()).toEqual(['6', '7', '8']);
});

test('a window made narrower is repainted from the right row', () => {
  const screen = new Screen(10, 10);
  const painter = new Painter(screen);
  painter.print(['kept']);
  painter.draw(['aaaaaaaaaa', 'bbbbbbbbbb']);
  // A real terminal wraps what it shows: two rows become four, the cursor stays below them.
  const narrow = new Screen(5, 10);
  narrow.write('kept\r\naaaaa\r\naaaaa\r\nbbbbb\r\nbbbbb\r\n');
  screen.columns = 5;
  screen.writes.length = 0;
  painter.draw(['aaaaa', 'b']);
  for (const text of screen.writes) narrow.write(text);
  expect(narrow.text()).toEqual(['kept', 'aaaaa', 'b']);
});

test('a line that is printed after the window became narrower leaves the frame whole', () => {
  const screen = new Screen(5, 10);
  const painter = new Painter(screen);
  painter.draw(['aaaaaaaaaa', 'bbbbbbbbbb']);
  painter.print(['kept']);
  painter.draw(['aaaaa', 'b']);
  expect(screen.text()).toEqual(['kept', 'aaaaa', 'b']);
});

test('lines wider than the screen are cut by it, not wrapped', () => {
  const screen = new Screen(5, 10);
  const painter = new Painter(screen);
  painter.draw(['1234567', 'x']);
  expect(screen.text()).toEqual(['12345', 'x']);
});

test('a frame is one synchronized write, and an unchanged one none', () => {
  const screen = new Screen(20, 10);
  const painter = new Painter(screen);
  painter.draw(['one', 'two']);
  painter.draw(['one', 'two']);
  expect(screen.writes).toHaveLength(1);
  expect(screen.writes[0]).toMatch(/^\x1b\[\?2026h[\s\S]*\x1b\[\?2026l$/);
});

test('closing takes the frame away and gives the terminal back', () => {
  const screen = new Screen(20, 10);
  {
    using painter = new Painter(screen);
    painter.print(['fact']);
    painter.draw(['one', 'two']);
    expect([screen.cursorVisible, screen.text()]).toEqual([false, ['fact', 'one', 'two']]);
    painter.close();
    painter.draw(['late']);
    painter.print(['after']);
  }
  expect(screen.text()).toEqual(['fact', 'after']);
  expect([screen.cursorVisible, screen.wraps, screen.updating]).toEqual([true, true, 0]);
  expect(screen.cursor()).toEqual({ row: 2, column: 0 });
});

test('a painter that never drew leaves no trace', () => {
  const screen = new Screen(20, 10);
  new Painter(screen).close();
  expect(screen.writes).toEqual([]);
});
