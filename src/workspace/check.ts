/**
 * check: one shell command in a workspace: a set-up step, a task's own check, a gate.
 *
 *   C1. It always ends: by itself, by its time limit or by the signal; its process tree with it.
 *   C2. What is kept of its output is the end, bounded, because that is where failures say why.
 */

import { Countdown } from '../base/countdown.ts';
import type { Suspension } from '../base/suspension.ts';
import { programEnvironment } from '../git/sparse.ts';
import { CUT_NOTE } from '../process/lines.ts';
import { run } from '../process/run.ts';

export interface Check {
  readonly dir: string;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Found in the environment of everything it starts. */
  readonly mark: string;
  /** Halts it, and its time; null for what no pause concerns. */
  readonly suspension: Suspension | null;
}

export type CheckResult =
  | { readonly kind: 'passed'; readonly ms: number; readonly output: string }
  | { readonly kind: 'failed'; readonly ms: number; readonly output: string }
  /** Ended by the signal: nothing is known about the tree. */
  | { readonly kind: 'stopped' };

const OUTPUT_CHARS = 8_000;
const GRACE_MS = 2_000;

/** Runs a command with `/bin/sh` and says whether it passed. */
export async function check(what: Check, signal: AbortSignal): Promise<CheckResult> {
  const output = new Tail(OUTPUT_CHARS);
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
        output.add(line);
        if (cut) output.add(CUT_NOTE);
      },
    },
    AbortSignal.any([signal, limit.signal]),
  );
  const ms = Math.round(performance.now() - began);
  if (signal.aborted) return { kind: 'stopped' };
  if (exit.kind === 'exited' && exit.code === 0) return { kind: 'passed', ms, output: output.text };
  if (exit.kind === 'aborted') output.add(`(ended after ${what.timeoutMs / 1000} s: time limit)`);
  else if (exit.kind === 'exited') output.add(`(exit code ${exit.code})`);
  else output.add(`(ended by ${exit.signal})`);
  return { kind: 'failed', ms, output: output.text };
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
