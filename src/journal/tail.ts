/**
 * The end of a file that others write: its last lines, and the lines to come. Only complete lines.
 *
 * - `readTail` says where it ended; `followFile` continues there without repeating or losing a
 *   line.
 * - A missing file is an empty one. One that shrank is read from its start again.
 */

import { type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isSystemError } from '../base/errors.ts';
import { pause } from '../base/pause.ts';

const CHUNK_BYTES = 64 * 1024;
/** Where the system cannot watch files, or overlooks a change. */
const POLL_MS = 200;
const NEWLINE = 0x0a;

export interface Tail {
  readonly lines: readonly string[];
  /** The offset after the last of them. */
  readonly end: number;
}

/** The complete lines among the last `bytes` of a file, without reading the rest. */
export async function readTail(file: string, bytes: number, signal: AbortSignal): Promise<Tail> {
  signal.throwIfAborted();
  const handle = await openExisting(file);
  if (handle === null) return { lines: [], end: 0 };
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - bytes - 1); // One more: is the first line whole?
    const data = await readRange(handle, start, size, signal);
    const first = start === 0 ? 0 : data.indexOf(NEWLINE) + 1;
    const end = data.lastIndexOf(NEWLINE) + 1;
    return { lines: linesOf(data.subarray(first, end)), end: start + end };
  } finally {
    await handle.close();
  }
}

/** The lines of a file from an offset on, as they are written, until `signal` aborts. */
export async function* followFile(
  path: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const bell = new Bell(path);
  let offset = from;
  let rest: Buffer = Buffer.alloc(0);
  try {
    while (!signal.aborted) {
      bell.listen();
      const { data, restarted } = await readMore(path, offset, signal);
      if (restarted) [offset, rest] = [0, Buffer.alloc(0)];
      offset += data.length;
      rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
      const end = rest.lastIndexOf(NEWLINE) + 1;
      yield* linesOf(rest.subarray(0, end));
      rest = rest.subarray(end);
      if (data.length < CHUNK_BYTES && !restarted) await bell.next(signal);
    }
  } finally {
    bell.close();
  }
}

interface More {
  readonly data: Buffer;
  /** The file is shorter than what was read of it: it was started over. */
  readonly restarted: boolean;
}

async function readMore(path: string, offset: number, signal: AbortSignal): Promise<More> {
  const handle = await openExisting(path);
  if (handle === null) return { data: Buffer.alloc(0), restarted: false };
  try {
    const { size } = await handle.stat();
    if (size < offset) return { data: Buffer.alloc(0), restarted: true };
    const end = Math.min(size, offset + CHUNK_BYTES);
    return { data: await readRange(handle, offset, end, signal), restarted: false };
  } catch (error) {
    if (signal.aborted) return { data: Buffer.alloc(0), restarted: false };
    throw error;
  } finally {
    await handle.close();
  }
}

/** Up to `end` and no further: the file may grow faster than it is read. */
async function readRange(
  handle: FileHandle,
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const data = Buffer.alloc(end - start);
  let length = 0;
  while (length < data.length) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(data, length, data.length - length, start + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return data.subarray(0, length);
}

async function openExisting(file: string): Promise<FileHandle | null> {
  return open(file, 'r').catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  });
}

/** Complete lines only: the text ends with a newline or is empty. */
function linesOf(data: Buffer): string[] {
  return data.length === 0 ? [] : data.toString('utf8').slice(0, -1).split('\n');
}

/** Rings when a file has changed, and now and then in any case. */
class Bell {
  readonly #path: string;
  #watcher: FSWatcher | null = null;
  #change = new AbortController();

  constructor(path: string) {
    this.#path = path;
  }

  /** From here on no change is missed, if the file is there. */
  listen(): void {
    this.#change = new AbortController();
    if (this.#watcher !== null) return;
    try {
      this.#watcher = watch(this.#path, () => this.#change.abort());
      this.#watcher.on('error', () => this.close());
    } catch (error) {
      if (!isSystemError(error)) throw error; // Not there yet, or no watches left: polling will do.
    }
  }

  next(signal: AbortSignal): Promise<void> {
    return pause(POLL_MS, AbortSignal.any([signal, this.#change.signal]));
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }
}
