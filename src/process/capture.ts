/**
 * capture: a short command's whole output. Cheaper than `run`, for the many git commands.
 *
 * - Stopping, by the signal or the command's time limit, is an outcome: SIGTERM to the process
 *   group, so that the command can remove its lock files, then SIGKILL. Daemons are not searched
 *   for; use `run` for programs of others.
 * - The exit decides, not end-of-file: a daemon of the command may keep the pipe.
 * - More output than allowed is an error, never silently cut.
 */

import type { Readable } from 'node:stream';
import { OperationalError } from '../base/errors.ts';
import type { Exit } from '../base/exit.ts';
import { exitOf, type Program, type StartedChild, sendSignal, start } from './spawn.ts';

const DRAIN_MS = 200;
const GRACE_MS = 2_000;
const MAX_BYTES = 256 * 1024 * 1024;

export interface Capture extends Program {
  readonly stdin: string | Uint8Array;
  /** Default: no limit but the signal. */
  readonly limitMs?: number;
  /** For each of stdout and stderr. */
  readonly maxBytes?: number;
}

/** Bytes that are not UTF-8 become U+FFFD. */
export interface Captured<Output = string> {
  readonly exit: Exit;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** For output that need not be UTF-8, such as paths. */
export type CapturedBytes = Captured<Buffer>;

/** The reason of an aborted exit when the command's own time limit ended it. */
export class TimeLimitError extends OperationalError {
  override readonly name = 'TimeLimitError';

  constructor(file: string, limitMs: number) {
    super(`${file} took longer than ${limitMs / 1000} s and was stopped`);
  }
}

export async function capture(command: Capture, signal: AbortSignal): Promise<Captured> {
  return asText(await captureBytes(command, signal));
}

export async function captureBytes(command: Capture, signal: AbortSignal): Promise<CapturedBytes> {
  if (signal.aborted) return nothingBecause(signal.reason);
  const child = await start(command, command.stdin.length === 0 ? 'ignore' : 'pipe');
  using stop = new Stop(child);
  using _ = whenStopped(command, signal, (reason) => stop.because(reason));

  const { maxBytes = MAX_BYTES } = command;
  const tooMuch = () => stop.because(new OperationalError(`${command.file} printed too much`));
  const stdout = collect(child.stdout, maxBytes, tooMuch);
  const stderr = collect(child.stderr, maxBytes, tooMuch);
  child.stdin?.on('error', () => {}); // It may exit without reading its input.
  child.stdin?.end(command.stdin);

  const ended = await endOf(child, () => stdout.bytes + stderr.bytes);
  const exit: Exit = stop.reason === undefined ? ended : { kind: 'aborted', ...stop.reason };
  return { exit, stdout: Buffer.concat(stdout.chunks), stderr: Buffer.concat(stderr.chunks) };
}

/** For a command that was aborted before it started. */
export function nothingBecause(reason: unknown): CapturedBytes {
  return { exit: { kind: 'aborted', reason }, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
}

export function asText({ exit, stdout, stderr }: CapturedBytes): Captured {
  return { exit, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8') };
}

/** Calls `stop` if the signal is aborted or the time limit passes before it is disposed. */
export function whenStopped(
  { file, limitMs }: Capture,
  signal: AbortSignal,
  stop: (reason: unknown) => void,
): Disposable {
  const onAbort = () => stop(signal.reason);
  const onLimit = (ms: number) => stop(new TimeLimitError(file, ms));
  const timer = limitMs === undefined ? undefined : setTimeout(onLimit, limitMs, limitMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

/** Ends a child once, for the first reason given. */
class Stop implements Disposable {
  readonly #child: StartedChild;
  #force: NodeJS.Timeout | undefined;
  reason: { readonly reason: unknown } | undefined;

  constructor(child: StartedChild) {
    this.#child = child;
  }

  because(reason: unknown): void {
    if (this.reason !== undefined || this.#child.exitCode !== null) return;
    this.reason = { reason };
    sendSignal(-this.#child.pid, 'SIGTERM');
    this.#force = setTimeout(() => sendSignal(-this.#child.pid, 'SIGKILL'), GRACE_MS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#force);
    if (this.reason !== undefined) sendSignal(-this.#child.pid, 'SIGKILL');
  }
}

function collect(stream: Readable | null, maxBytes: number, tooMuch: () => void) {
  const collected = { chunks: [] as Buffer[], bytes: 0 };
  stream?.on('error', () => {});
  stream?.on('data', (chunk: Buffer) => {
    collected.bytes += chunk.length;
    if (collected.bytes > maxBytes) return tooMuch();
    collected.chunks.push(chunk);
  });
  return collected;
}

/**
 * The exit, once both pipes are closed. A process that outlives the child may hold them open, so
 * after DRAIN_MS what has been written is read to its end and no more is waited for: a timer alone
 * would not do, because it may be due before a busy loop has come to read at all.
 */
function endOf(child: StartedChild, received: () => number): Promise<Exit> {
  return new Promise((resolve) => {
    let drain: NodeJS.Timeout | undefined;
    const giveUp = (exit: Exit, before: number): void => {
      setImmediate(() => {
        if (received() !== before) return giveUp(exit, received());
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(exit);
      });
    };
    child.once('exit', (code, killedBy) => {
      drain = setTimeout(() => giveUp(exitOf(code, killedBy), -1), DRAIN_MS);
    });
    child.once('close', (code, killedBy) => {
      clearTimeout(drain);
      resolve(exitOf(code, killedBy));
    });
  });
}
