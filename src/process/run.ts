/**
 * run: one child process, its lines, and a promise that it is gone.
 *
 * - When `run` settles, also after a normal exit, nothing it started is alive: not the child, its
 *   process group, nor a daemon in the background (process-tree.ts says how those are found and
 *   which survive). `onLine` is not called again.
 * - Stopping is an outcome, not an error. Only a process that never started throws; what `onLine`
 *   throws is thrown again once the process is gone.
 * - The child's exit decides, not end-of-file: a process that escaped us may keep the pipe open for
 *   ever, so the last lines get DRAIN_MS and no more.
 * - The first cause wins: an abort after the child's own exit does not change the answer.
 */

import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../base/assert.ts';
import type { Exit } from '../base/exit.ts';
import { pause } from '../base/pause.ts';
import type { Suspension } from '../base/suspension.ts';
import { type LineEnd, LineSplitter } from './lines.ts';
import { MARK_VARIABLE, markFor, startOf } from './process-list.ts';
import { Family } from './process-tree.ts';
import { exitOf, type Program, start } from './spawn.ts';

const DRAIN_MS = 500;

export interface Run extends Program {
  readonly stdin: string;
  /** Whether standard input stays open after `stdin`; `onStart` receives it. */
  readonly keepsInput?: boolean;
  /** How long the child may take to end after SIGINT. */
  readonly graceMs: number;
  /** MARK_VARIABLE of the child, by which descendants are found. No spaces, no `;`. */
  readonly mark: string | null;
  /** Halts and continues the program with all its descendants. */
  readonly suspension?: Suspension;
  onStart?(input: Input): void;
  readonly lineEnd?: LineEnd;
  /** `cut`: the line was longer than the limit of lines.ts. */
  onLine(line: string, from: 'stdout' | 'stderr', cut: boolean): void;
}

/** Standard input of a running program. Writing after its end does nothing. */
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

interface Running {
  readonly family: Family;
  /** Null: it reads /dev/null. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
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

/** The child's own exit, or the abort, whichever comes first. */
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
    void Promise.allSettled([promise]); // `run` may have returned before it rejects.
    this.failure = promise;
    this.#fail = reject;
    this.#streams = (['stdout', 'stderr'] as const).map((from) => {
      const deliver = (line: string, cut: boolean) => cmd.onLine(line, from, cut);
      const splitter = new LineSplitter(deliver, undefined, cmd.lineEnd);
      return [child[from], splitter] as const;
    });
    this.#ended = Promise.all(
      this.#streams.map(([stream, splitter]) => this.#read(stream, splitter)),
    );
  }

  /** Waits at most DRAIN_MS for end-of-file and closes the streams. */
  async drain(): Promise<void> {
    const timer = new AbortController();
    await Promise.race([this.#ended, pause(DRAIN_MS, timer.signal)]);
    timer.abort('over');
    for (let before = -1; before !== this.#received; ) {
      before = this.#received; // A busy loop may not have come to read what already exists.
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
