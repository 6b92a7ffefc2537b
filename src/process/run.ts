/**
 * run: one child process, its lines, and a promise that it is gone.
 *
 *   P1. When `run` settles, nothing it started is alive: not the child, not its process group, not
 *       a daemon it left in the background (tree.ts says how those are found and what it cannot
 *       end). This holds after a normal exit as well.
 *   P2. Stopping is an outcome, not an error. Only a process that never started throws; what
 *       `onLine` throws is thrown again once the process is gone.
 *   P3. The child's exit decides, not end-of-file: a process that escaped us may keep the pipe
 *       open for ever, so the last lines get DRAIN_MS and no more.
 *   P4. The first cause wins: an abort after the child's own exit does not change the answer.
 *       After `run` settled `onLine` is not called again.
 */

import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../base/assert.ts';
import type { Exit } from '../base/exit.ts';
import { pause } from '../base/pause.ts';
import type { Suspension } from '../base/suspension.ts';
import { LineSplitter } from './lines.ts';
import { exitOf, type Program, start } from './spawn.ts';
import { MARK_VARIABLE, markFor, startOf } from './table.ts';
import { Family } from './tree.ts';

const DRAIN_MS = 500;

/** A program to run, and what to do with its lines. */
export interface Run extends Program {
  readonly stdin: string;
  /** Whether standard input stays open after `stdin`, for whoever got it by `onStart`. */
  readonly keepsInput?: boolean;
  /** How long the child may take to end itself after SIGINT. */
  readonly graceMs: number;
  /** Put in the environment as MARK_VARIABLE, by which descendants are found. No spaces, no `;`. */
  readonly mark: string | null;
  /** Halts the program and all that it has started, and lets them go on. */
  readonly suspension?: Suspension;
  /** Gives the open standard input of a program that keeps it. */
  onStart?(input: Input): void;
  /** `cut` says that the line was longer than the limit of lines.ts. */
  onLine(line: string, from: 'stdout' | 'stderr', cut: boolean): void;
}

/** The standard input of a running program. Writing to one that has ended does nothing. */
export interface Input {
  write(text: string): void;
  end(): void;
}

/** Runs a program to its end, or ends it when the signal is aborted. */
export async function run(cmd: Run, signal: AbortSignal): Promise<Exit> {
  if (signal.aborted) return { kind: 'aborted', reason: signal.reason };
  const child = await begin({ ...cmd, env: environmentOf(cmd) });
  const { family } = child;
  using _ = cmd.suspension?.join(family);
  const output = new Output(child, cmd);
  child.stdin?.on('error', () => {}); // A child may exit without reading its input.
  if (cmd.keepsInput === true) converse(child, cmd);
  else child.stdin?.end(cmd.stdin);

  let exit: Exit | undefined;
  try {
    exit = await Promise.race([firstCause(child, signal), output.failure]);
    return exit;
  } finally {
    const isOwn = exit !== undefined && exit.kind !== 'aborted';
    await (isOwn ? family.endLeftovers() : family.end(cmd.graceMs));
    await output.drain();
  }
}

/** A program that has started. */
interface Running {
  /** It, and all that it starts. */
  readonly family: Family;
  /** Null if it gets no input: then it reads /dev/null. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How it ended by itself. */
  readonly exit: Promise<Exit>;
}

async function begin(cmd: Run): Promise<Running> {
  const needsInput = cmd.stdin !== '' || cmd.keepsInput === true;
  const child = await start(cmd, needsInput ? 'pipe' : 'ignore');
  const { pid, stdin, stdout, stderr } = child;
  const family = new Family({ pid, start: startOf(pid) ?? 0 }, cmd.mark);
  const exit = new Promise<Exit>((resolve) => {
    child.once('exit', (code, killedBy) => resolve(exitOf(code, killedBy)));
  });
  return { family, stdin, stdout: stdout!, stderr: stderr!, exit };
}

function converse(child: Running, cmd: Run): void {
  if (cmd.stdin !== '') child.stdin?.write(cmd.stdin);
  cmd.onStart?.({
    write: (text) => {
      if (child.stdin?.writable === true) child.stdin.write(text);
    },
    end: () => child.stdin?.end(),
  });
}

function environmentOf({ env, mark }: Run): NodeJS.ProcessEnv {
  if (mark === null) return env;
  assert(/^[^\s;]+$/.test(mark), `a mark must not hold spaces or semicolons: ${mark}`);
  return { ...env, [MARK_VARIABLE]: markFor(mark) };
}

/** How the child ended by itself, or that it has to end now. */
async function firstCause(child: Running, signal: AbortSignal): Promise<Exit> {
  const { promise, resolve } = Promise.withResolvers<Exit>();
  const onAbort = () => resolve({ kind: 'aborted', reason: signal.reason });
  void child.exit.then(resolve);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The child's two streams, forwarded as lines until both end or time is up. */
class Output {
  /** Rejects with what `onLine` threw; never resolves. */
  readonly failure: Promise<never>;
  readonly #fail: (error: unknown) => void;
  readonly #streams: readonly (readonly [Readable, LineSplitter])[];
  readonly #ended: Promise<unknown>;
  #failed = false;
  #received = 0;

  constructor(child: Running, cmd: Run) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {}); // Observed by `run`, perhaps after it has looked away.
    this.failure = promise;
    this.#fail = reject;
    this.#streams = (['stdout', 'stderr'] as const).map((from) => {
      const splitter = new LineSplitter((line, cut) => cmd.onLine(line, from, cut));
      return [child[from], splitter] as const;
    });
    this.#ended = Promise.all(
      this.#streams.map(([stream, splitter]) => this.#read(stream, splitter)),
    );
  }

  /** Waits for end-of-file, but not for long, and lets go of the streams. */
  async drain(): Promise<void> {
    const timer = new AbortController();
    await Promise.race([this.#ended, pause(DRAIN_MS, timer.signal)]);
    timer.abort('over');
    for (let before = -1; before !== this.#received; ) {
      before = this.#received; // A busy loop may not have come to read what is there already.
      await nextTurn();
    }
    for (const [stream, splitter] of this.#streams) {
      stream.removeAllListeners('data').destroy();
      this.#guarded(() => splitter.end());
    }
    if (this.#failed) await this.failure;
  }

  #read(stream: Readable, splitter: LineSplitter): Promise<void> {
    stream.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
      this.#guarded(() => splitter.push(chunk));
    });
    return new Promise((resolve) => {
      stream.once('close', resolve);
      stream.on('error', () => resolve());
    });
  }

  #guarded(deliver: () => void): void {
    if (this.#failed) return;
    try {
      deliver();
    } catch (error) {
      this.#failed = true;
      this.#fail(error);
    }
  }
}
