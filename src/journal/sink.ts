/**
 * A private file that grows: what a transcript is written through.
 *
 * - `write` returns at once, whatever the disk does. Nothing here throws: a failure is reported
 *   once, and the rest of the text is dropped.
 * - A file is opened when the first text comes, never through a link and only if it is a plain
 *   file; it is 0600 from its first byte.
 */

import { closeSync, constants, fchmodSync, fstatSync, openSync, write } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';

/** How much may wait, behind what a slow disk is writing, before text is dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** What happens to earlier content of the file. */
export type Before = 'kept' | 'discarded';

export class Sink {
  readonly #file: string;
  readonly #before: Before;
  readonly #onFailure: (message: string) => void;
  #state: 'unopened' | 'open' | 'failed' | 'closed' = 'unopened';
  #fd: number | null = null;
  /** What the disk has not been given yet. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  /** Resolves when the file is closed, or the wait for that was given up. */
  readonly #gone = Promise.withResolvers<void>();

  constructor(file: string, before: Before, onFailure: (message: string) => void) {
    this.#file = file;
    this.#before = before;
    this.#onFailure = onFailure;
  }

  write(text: string): void {
    if (this.#state === 'unopened') this.#open();
    if (this.#state !== 'open') return;
    if (this.#waitingBytes > MAX_WAITING_BYTES) return this.#fail('the disk is too slow');
    const bytes = Buffer.from(text);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (!this.#isWriting) this.#goOn();
  }

  /** Waits until everything is written; when `signal` aborts first, the rest is dropped. */
  async close(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'failed') this.#state = 'closed';
    if (this.#fd === null) return;
    const drop = (): void => {
      this.#waiting = [];
      this.#gone.resolve();
    };
    signal.addEventListener('abort', drop, { once: true });
    if (signal.aborted) drop();
    if (!this.#isWriting) this.#goOn();
    await this.#gone.promise;
    signal.removeEventListener('abort', drop);
  }

  #open(): void {
    try {
      makeFolders(dirname(this.#file), 0o700);
      this.#fd = openPrivately(this.#file, this.#before);
      this.#state = 'open';
    } catch (error) {
      this.#fail(messageOf(error));
    }
  }

  /** Gives the disk all that waits, or closes the file where nothing will come any more. */
  #goOn(): void {
    const fd = this.#fd;
    if (fd === null) return;
    const waiting = this.#waiting.splice(0);
    this.#waitingBytes = 0;
    // One alone may be a long line: no second copy of it is made.
    const bytes = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting);
    if (bytes.length > 0) return this.#give(fd, bytes);
    this.#isWriting = false;
    if (this.#state === 'open') return;
    this.#fd = null;
    try {
      closeSync(fd); // All is written: another thread would cost more than this.
    } catch (error) {
      this.#fail(messageOf(error)); // A disk of another machine may say only now that it is full.
    }
    this.#gone.resolve();
  }

  #give(fd: number, bytes: Buffer): void {
    this.#isWriting = true;
    write(fd, bytes, (error, written) => {
      if (error !== null) this.#fail(error.message);
      const isRest = error === null && written < bytes.length;
      if (isRest && this.#state !== 'failed') this.#give(fd, bytes.subarray(written));
      else this.#goOn();
    });
  }

  #fail(why: string): void {
    if (this.#state === 'failed') return;
    this.#state = 'failed';
    this.#waiting = [];
    this.#onFailure(`${this.#file} cannot be written: ${why}`);
    if (!this.#isWriting) this.#goOn();
  }
}

/** O_NONBLOCK: a named pipe in place of the file must not block. */
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
