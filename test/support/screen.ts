/**
 * A terminal small enough to read: it obeys the sequences a Painter uses and shows the result.
 *
 * Unknown sequences are errors. Every character is one column wide. As on a real one, the cursor
 * stays on the last column of a full line until the next character comes: what erases then takes
 * that column as well.
 */

import type { Terminal } from '../../src/tui/painter.ts';

export class Screen implements Terminal {
  columns: number;
  rows: number;
  cursorVisible = true;
  wraps = true;
  /** How many synchronized updates were begun and not ended. */
  updating = 0;
  readonly writes: string[] = [];
  /** Everything ever shown, scrolled-off lines included. */
  #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): boolean {
    this.writes.push(text);
    for (const token of text.match(/\x1b\[[0-?]*[@-~]|[\s\S]/g) ?? []) this.#take(token);
    return true;
  }

  /** What is to be seen, with what has scrolled off above it; blanks at the end do not count. */
  text(): string[] {
    const lines = this.#lines.map((line) => line.trimEnd());
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  cursor(): { readonly row: number; readonly column: number } {
    return { row: this.#row, column: this.#column };
  }

  #take(token: string): void {
    if (token === '\r') this.#column = 0;
    else if (token === '\n') this.#down();
    else if (token.startsWith('\x1b')) this.#obey(token.slice(2));
    else this.#put(token);
  }

  #obey(sequence: string): void {
    const up = /^(\d+)A$/.exec(sequence);
    const top = Math.max(0, this.#lines.length - this.rows);
    if (up) this.#row = Math.max(top, this.#row - Number(up[1]));
    else if (sequence === 'K') this.#eraseLine();
    else if (sequence === 'J') {
      this.#eraseLine();
      this.#lines.length = this.#row + 1;
    } else if (sequence === '?25l' || sequence === '?25h')
      this.cursorVisible = sequence.endsWith('h');
    else if (sequence === '?7l' || sequence === '?7h') this.wraps = sequence.endsWith('h');
    else if (sequence === '?2026h') this.updating += 1;
    else if (sequence === '?2026l') this.updating -= 1;
    else throw new Error(`the screen does not know ESC [ ${sequence}`);
  }

  #eraseLine(): void {
    const from = Math.min(this.#column, this.columns - 1);
    this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, from);
  }

  #down(): void {
    this.#row += 1;
    this.#column = 0;
    if (this.#row === this.#lines.length) this.#lines.push('');
  }

  #put(character: string): void {
    if (this.#column >= this.columns) {
      if (!this.wraps) return;
      this.#down();
    }
    const line = this.#lines[this.#row]!.padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column += 1;
  }
}
