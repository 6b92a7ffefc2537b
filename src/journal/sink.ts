/**
 * A private file that grows: what a transcript is written through.
 *
 *   S1. `write` returns at once, whatever the disk does.
 *   S2. A file is opened when the first text comes, never through a link and only if it is a plain
 *       file; it is 0600 from its first byte.
 *   S3. A failure is told once and the rest of the text is dropped. Nothing here throws.
 */

import {
  closeSync,
  constants,
  createWriteStream,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  type WriteStream,
} from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { messageOf } from '../base/errors.ts';

/** How much may wait for a slow disk before text is dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** What is to become of what the file holds already. */
export type Before = 'kept' | 'discarded';

export class Sink {
  readonly #file: string;
  readonly #before: Before;
  readonly #onFailure: (message: string) => void;
  #state: 'unopened' | 'open' | 'failed' | 'closed' = 'unopened';
  #stream: WriteStream | null = null;

  constructor(file: string, before: Before, onFailure: (message: string) => void) {
    this.#file = file;
    this.#before = before;
    this.#onFailure = onFailure;
  }

  write(text: string): void {
    if (this.#state === 'unopened') this.#open();
    if (this.#stream === null || this.#state !== 'open') return;
    if (this.#stream.writableLength > MAX_WAITING_BYTES) return this.#fail('the disk is too slow');
    this.#stream.write(text);
  }

  /** Waits until everything is written; when `signal` aborts first, the rest is dropped. */
  async close(signal: AbortSignal): Promise<void> {
    const stream = this.#stream;
    if (this.#state !== 'failed') this.#state = 'closed';
    if (stream === null) return;
    try {
      stream.end();
      await finished(stream, { signal });
    } catch {
      stream.destroy(); // Aborted, or failed and told by then.
    }
  }

  #open(): void {
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      const fd = openPrivately(this.#file, this.#before);
      this.#stream = createWriteStream(this.#file, { fd });
      this.#stream.on('error', (error) => this.#fail(error.message));
      this.#state = 'open';
    } catch (error) {
      this.#fail(messageOf(error));
    }
  }

  #fail(why: string): void {
    if (this.#state === 'failed') return;
    this.#state = 'failed';
    this.#stream?.destroy();
    this.#onFailure(`${this.#file} cannot be written: ${why}`);
  }
}

/** O_NONBLOCK: a named pipe in place of the file must not hold us up for ever. */
function openPrivately(file: string, before: Before): number {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
  const fd = openSync(file, before === 'discarded' ? flags | constants.O_TRUNC : flags, 0o600);
  try {
    if (!fstatSync(fd).isFile()) throw new Error('it is not a plain file');
    fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
