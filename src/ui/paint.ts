/**
 * Painter: a few lines that are redrawn in place at the bottom of a terminal.
 *
 *   N1. The cursor rests at the end of the last drawn line; a redraw goes up by as many rows as
 *       those lines take now (a narrower window wraps them) and replaces them.
 *   N2. A frame is one write, as one synchronized update, so a terminal never shows half of it.
 *   N3. Permanent lines go above the frame and scroll away like any output.
 *   N4. After `close` the frame is gone and the cursor is back, however often it is called.
 *
 * Lines must hold no control but styles; whoever makes them takes care (report/clean.ts).
 */

import { widthOf } from './width.ts';

/** What a Painter needs of a terminal; `process.stderr` is one. */
export interface Terminal {
  write(text: string): unknown;
  /** Both are 0 where a terminal does not tell its size. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export class Painter {
  readonly #terminal: Terminal;
  #drawn: readonly string[] = [];
  #hidden = false;
  #closed = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Replaces the frame. Nothing is written where nothing changed. */
  draw(lines: readonly string[]): void {
    if (this.#closed) return;
    const fitting = lines.slice(0, this.#terminal.rows || lines.length);
    if (this.#hidden && sameLines(fitting, this.#drawn)) return;
    const show = this.#hidden ? '' : HIDE_CURSOR;
    this.#hidden = true;
    this.#update(show + this.#home() + body(fitting));
    this.#drawn = fitting;
  }

  /** Writes lines that stay, above the frame. */
  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const text = lines.map((line) => `${line}${ERASE_LINE}\r\n`).join('');
    if (!this.#hidden || this.#closed) {
      this.#terminal.write(lines.map((line) => `${line}\n`).join(''));
      return;
    }
    this.#update(this.#home() + text + body(this.#drawn));
  }

  /** Takes the frame away and gives the terminal back. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#hidden) return;
    this.#update(this.#home() + ERASE_BELOW + WRAP_ON + SHOW_CURSOR);
    this.#drawn = [];
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #update(text: string): void {
    this.#terminal.write(BEGIN_UPDATE + text + END_UPDATE);
  }

  /** To the first column of the first row of what is drawn. */
  #home(): string {
    const columns = this.#terminal.columns || Number.POSITIVE_INFINITY;
    const taken = this.#drawn.reduce((rows, line) => rows + rowsOf(line, columns), 0);
    const up = Math.min(taken, this.#terminal.rows || taken) - 1;
    return up > 0 ? `\r${ESC}${up}A` : '\r';
  }
}

/** Lines are cut rather than wrapped, should a terminal count columns in its own way. */
function body(lines: readonly string[]): string {
  const text = lines.map((line) => line + ERASE_LINE).join('\r\n');
  return WRAP_OFF + text + ERASE_BELOW + WRAP_ON;
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(line) / columns));
}

function sameLines(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((line, index) => line === others[index]);
}

const ESC = '\x1b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
const WRAP_OFF = `${ESC}?7l`;
const WRAP_ON = `${ESC}?7h`;
const BEGIN_UPDATE = `${ESC}?2026h`;
const END_UPDATE = `${ESC}?2026l`;
const ERASE_LINE = `${ESC}K`;
const ERASE_BELOW = `${ESC}J`;
