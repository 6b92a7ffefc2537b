/**
 * check: one shell command in a workspace (a set-up step, a task's own check, a gate), or one gate
 * function of this process. It always ends: by itself, by its time limit or by the signal, and its
 * process tree with it; a function that ignores its signal is abandoned. Of a failure's output, the
 * lines that mention an error and the end are kept.
 */

import { Countdown } from '../base/countdown.ts';
import { messageOf, rethrowBug } from '../base/errors.ts';
import { excerpt } from '../base/excerpt.ts';
import { exitCode as codeOf, type Exit } from '../base/exit.ts';
import { graceAfter } from '../base/pause.ts';
import type { Suspension } from '../base/suspension.ts';
import { programEnvironment } from '../git/sparse.ts';
import { CUT_NOTE } from '../process/lines.ts';
import { run } from '../process/run.ts';
import type { GateAnswer, GateCandidate, GateFunction } from './run-context.ts';

export interface Check {
  readonly dir: string;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Found in the environment of everything it starts. */
  readonly mark: string;
  /** Halts the command and its time limit; null if pausing does not apply. */
  readonly suspension: Suspension | null;
  /** Receives the command, each line of its output, and how it ended. */
  readonly onLine: (line: string) => void;
}

type CheckResult =
  | { readonly kind: 'passed'; readonly ms: number; readonly output: string }
  /** `exitCode` is null where it was ended: `output` says by what. */
  | {
      readonly kind: 'failed';
      readonly ms: number;
      readonly exitCode: number | null;
      readonly output: string;
    }
  /** Ended by the signal: nothing is known about the tree. */
  | { readonly kind: 'stopped' };

/** Characters of output that are searched for errors, and that are kept. */
const SEEN_CHARS = 64_000;
const KEPT_CHARS = 8_000;
const GRACE_MS = 2_000;

export async function check(what: Check, signal: AbortSignal): Promise<CheckResult> {
  const output = new Tail(SEEN_CHARS);
  what.onLine(`$ ${what.command}`);
  const began = performance.now();
  const limit = new AbortController();
  using countdown = new Countdown(what.timeoutMs, () => limit.abort('time limit'));
  using _ = what.suspension?.join(countdown);
  const exit = await run(
    {
      file: '/bin/sh',
      args: ['-c', what.command],
      cwd: what.dir,
      env: { ...what.env, ...programEnvironment(what.dir, what.env) },
      stdin: '',
      graceMs: GRACE_MS,
      mark: what.mark,
      ...(what.suspension === null ? {} : { suspension: what.suspension }),
      onLine: (line, _from, cut) => {
        for (const text of cut ? [line, CUT_NOTE] : [line]) {
          output.add(text);
          what.onLine(text);
        }
      },
    },
    AbortSignal.any([signal, limit.signal]),
  );
  const exitCode = codeOf(exit);
  const isGreen = exitCode === 0;
  return resultOf(what, { began, output, isGreen, exitCode, how: endOf(exit, what) }, signal);
}

function endOf(exit: Exit, { timeoutMs }: Check): string {
  if (exit.kind === 'aborted') return lateAfter(timeoutMs);
  return exit.kind === 'exited' ? `exit code ${exit.code}` : `ended by ${exit.signal}`;
}

function lateAfter(timeoutMs: number): string {
  return `ended after ${timeoutMs / 1000} s: time limit`;
}

interface CheckEnd {
  readonly began: number;
  readonly output: Tail;
  readonly isGreen: boolean;
  readonly exitCode: number | null;
  readonly how: string;
}

/** Says how a check ended, unless it was stopped, and what is kept of its output. */
function resultOf(
  { onLine }: Pick<Check, 'onLine'>,
  { began, output, isGreen, exitCode, how }: CheckEnd,
  signal: AbortSignal,
): CheckResult {
  const ms = Math.round(performance.now() - began);
  onLine(`(${signal.aborted ? 'stopped' : how}, ${(ms / 1000).toFixed(1)} s)`);
  if (signal.aborted) return { kind: 'stopped' };
  if (isGreen) return { kind: 'passed', ms, output: lastOf(output.text, KEPT_CHARS) };
  const said = excerpt(output.text, KEPT_CHARS);
  return { kind: 'failed', ms, exitCode, output: `${said}\n(${how})`.trimStart() };
}

interface FunctionCheck extends Omit<GateCandidate, 'signal' | 'log'> {
  readonly name: string;
  readonly gate: GateFunction;
  readonly timeoutMs: number;
  readonly onLine: (line: string) => void;
  /** Called with the end of a function that goes on after its signal was aborted. */
  readonly abandoned: (end: Promise<unknown>) => void;
}

type FunctionEnd = { readonly answer: GateAnswer } | { readonly error: unknown } | null;

export async function checkFunction(
  what: FunctionCheck,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { name, gate, dir, tree, commit, timeoutMs, onLine } = what;
  const output = new Tail(SEEN_CHARS);
  const log = (text: string): void => {
    for (const line of text.split('\n')) {
      output.add(line);
      onLine(line);
    }
  };
  onLine(`function ${name}`);
  const began = performance.now();
  const limit = new AbortController();
  using _ = new Countdown(timeoutMs, () => limit.abort('time limit'));
  const over = new AbortController();
  const stop = AbortSignal.any([signal, limit.signal]);
  const candidate: GateCandidate = {
    ...{ dir, tree, commit, signal: stop },
    log: (line) => {
      if (!over.signal.aborted) log(line);
    },
  };
  const called = call(gate, candidate);
  const end = await Promise.race([called, graceAfter(stop, GRACE_MS, over.signal)]);
  over.abort();
  if (end === null) what.abandoned(called);
  const isLate = limit.signal.aborted;
  const red = isLate || signal.aborted ? null : redOf(end);
  if (red !== null) log(red);
  const isGreen = red === null && !isLate;
  const how = isLate ? lateAfter(timeoutMs) : isGreen ? 'green' : 'red';
  return resultOf(what, { began, output, isGreen, exitCode: null, how }, signal);
}

/** A function may throw at once as well as later. */
async function call(gate: GateFunction, candidate: GateCandidate): Promise<FunctionEnd> {
  try {
    return { answer: await gate.check(candidate) };
  } catch (error) {
    return { error };
  }
}

function redOf(end: FunctionEnd): string | null {
  if (end === null) return 'It did not end.';
  if ('error' in end) {
    rethrowBug(end.error);
    const { error } = end;
    return `It threw: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`;
  }
  const answer: unknown = end.answer;
  if (answer === 'green') return null;
  if (typeof answer === 'object' && answer !== null && 'red' in answer) return String(answer.red);
  return `It answered ${String(answer)} instead of 'green' or { red: 'why' }.`;
}

/** The last lines of a stream, at most so many characters. */
export class Tail {
  readonly #limit: number;
  readonly #lines: string[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(line: string): void {
    const kept = line.length > this.#limit ? lastOf(line, this.#limit) : line;
    this.#lines.push(kept);
    this.#length += kept.length + 1;
    while (this.#length > this.#limit && this.#lines.length > 1) {
      this.#length -= (this.#lines.shift()?.length ?? 0) + 1;
    }
  }

  get text(): string {
    return this.#lines.join('\n');
  }
}

/** The end of a text, as a copy: a mere slice would hold all of it in memory. */
function lastOf(text: string, length: number): string {
  return Buffer.from(text.slice(-length), 'utf16le').toString('utf16le');
}
