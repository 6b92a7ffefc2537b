/**
 * Bytes to lines, for streams whose lines may be megabytes long and whose bytes may be anything.
 *
 * - A line is decoded as a whole, so that no character is torn by a chunk's edge; what is not UTF-8
 *   becomes U+FFFD.
 * - Memory is bounded: a line longer than the limit is delivered, flagged as cut, once the limit is
 *   reached; its rest is dropped.
 * - The last line counts without its newline. `\r\n` ends a line like `\n`.
 */

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NUL = 0x00;

/** What ends a line: a newline, or NUL as in git's `-z` formats. */
export type LineEnd = 'newline' | 'nul';

/**
 * The longest line that is kept whole. A picture that an agent prints in one line is far smaller. On
 * its way to the disk a line is in memory five times.
 */
const LINE_LIMIT_BYTES = 16 * 1024 * 1024;

export const WAS_CUT = `had more than ${LINE_LIMIT_BYTES / 1024 ** 2} MiB; its end is not kept.`;
export const CUT_NOTE = `[The line above ${WAS_CUT}]`;

/** `cut`: the end of the line was dropped. */
export type OnLine = (line: string, cut: boolean) => void;

export class LineSplitter {
  readonly #onLine: OnLine;
  readonly #limitBytes: number;
  readonly #lineEnd: LineEnd;
  #pieces: Buffer[] = [];
  #pendingBytes = 0;
  #dropping = false;

  constructor(onLine: OnLine, limitBytes: number = LINE_LIMIT_BYTES, lineEnd: LineEnd = 'newline') {
    this.#onLine = onLine;
    this.#limitBytes = limitBytes;
    this.#lineEnd = lineEnd;
  }

  push(chunk: Buffer): void {
    const separator = this.#lineEnd === 'nul' ? NUL : NEWLINE;
    let start = 0;
    while (start < chunk.length) {
      const found = chunk.indexOf(separator, start);
      const end = found === -1 ? chunk.length : found;
      this.#take(chunk.subarray(start, end));
      if (found === -1) return;
      this.#finishLine();
      start = found + 1;
    }
  }

  /** Delivers the last line if it had no newline. */
  end(): void {
    if (this.#pendingBytes > 0) this.#deliver(false);
    this.#dropping = false;
  }

  #take(piece: Buffer): void {
    if (this.#dropping || piece.length === 0) return;
    const room = this.#limitBytes - this.#pendingBytes;
    const fits = piece.length <= room;
    this.#pieces.push(fits ? piece : piece.subarray(0, room));
    this.#pendingBytes += fits ? piece.length : room;
    if (fits) return;
    this.#deliver(true);
    this.#dropping = true;
  }

  #finishLine(): void {
    if (!this.#dropping) this.#deliver(false);
    this.#dropping = false;
  }

  #deliver(cut: boolean): void {
    const [only] = this.#pieces;
    const bytes =
      this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pendingBytes = 0;
    const isWhole = !cut && this.#lineEnd === 'newline';
    const length =
      isWhole && bytes[bytes.length - 1] === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    this.#onLine(bytes.toString('utf8', 0, length), cut);
  }
}
