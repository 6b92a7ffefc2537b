/**
 * Painter: redraws a few lines in place at the bottom of a terminal.
 *
 * The cursor rests on an empty row below the lines, because terminals disagree on how to wrap its
 * row. A row is erased before it is written: after a full line the cursor still stands on the last
 * column. Each frame is one synchronized update. Lines must be sanitized (report/sanitize.ts).
 */

import { widthOf } from './styled-text.ts';

/** What a Painter needs from a terminal such as `process.stderr`. */
export interface Terminal {
  write(text: string): unknown;
  /** Both are 0 if the terminal does not report its size. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export class Painter {
  readonly #terminal: Terminal;
  #drawn: readonly string[] = [];
  /** The columns that each drawn line took. */
  #widths: readonly number[] = [];
  #size = '';
  #hidden = false;
  #closed = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  draw(lines: readonly string[]): void {
    if (this.#closed) return;
    const fitting = lines.slice(0, (this.#terminal.rows || lines.length + 1) - 1);
    const size = `${this.#terminal.columns}x${this.#terminal.rows}`;
    if (this.#hidden && size === this.#size && sameLines(fitting, this.#drawn)) return;
    this.#size = size;
    const show = this.#hidden ? '' : HIDE_CURSOR;
    this.#hidden = true;
    this.#update(show + this.#home() + this.#body(fitting));
    this.#drawn = fitting;
  }

  /** Writes permanent lines above the frame. */
  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    if (!this.#hidden || this.#closed) {
      this.#terminal.write(lines.map((line) => `${line}\n`).join(''));
      return;
    }
    const text = lines.map((line) => `${ERASE_LINE}${line}\r\n`).join('');
    this.#update(this.#home() + text + this.#body(this.#drawn));
  }

  /** Erases the frame and restores the terminal. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#hidden) return;
    this.#update(this.#home() + this.#blank() + this.#home() + WRAP_ON + SHOW_CURSOR);
    this.#widths = [];
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #update(text: string): void {
    this.#terminal.write(BEGIN_UPDATE + text + END_UPDATE);
  }

  /** Moves to the top left of the frame. */
  #home(): string {
    const up = this.#rows();
    return up > 0 ? `\r${ESC}${up}A` : '\r';
  }

  /** Erases the frame row by row: some terminals would keep a cleared screen in their history. */
  #blank(): string {
    return `${ERASE_LINE}\r\n`.repeat(this.#rows());
  }

  /** How many rows the drawn lines occupy. */
  #rows(): number {
    const columns = this.#columns();
    const taken = this.#widths.reduce(
      (rows, width) => rows + Math.max(1, Math.ceil(width / columns)),
      0,
    );
    return Math.min(taken, (this.#terminal.rows || taken + 1) - 1);
  }

  /** Wrapping is off in case the terminal counts columns differently. */
  #body(lines: readonly string[]): string {
    const columns = this.#columns();
    this.#widths = lines.map((line) => Math.min(widthOf(line), columns));
    const text = lines.map((line) => `${ERASE_LINE}${line}\r\n`).join('');
    return WRAP_OFF + text + ERASE_BELOW + WRAP_ON;
  }

  #columns(): number {
    return this.#terminal.columns || Number.POSITIVE_INFINITY;
  }
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
