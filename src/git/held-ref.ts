/**
 * Moves a ref together with something else: while that is done the ref is locked, and the user's
 * hook (reference-transaction) has agreed to the move.
 *
 *   H1. The ref moves after the work has said yes, and not at all after a no or an error.
 *   H2. Nobody else can move it meanwhile. If we die git lets go of it, where it was.
 */

import type { Exit } from '../base/exit.ts';
import { type Input, run } from '../process/run.ts';
import { gitEnvironment } from './environment.ts';
import type { Sha } from './git.ts';

export interface Move {
  readonly ref: string;
  readonly to: Sha;
  readonly from: Sha;
  /** For the reflog. */
  readonly message: string;
}

export type HeldMove =
  | { readonly kind: 'moved' }
  /** The work said no. */
  | { readonly kind: 'kept' }
  /** A hook does not let the ref move. */
  | { readonly kind: 'refused'; readonly said: string }
  /** The ref is somewhere else. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly why: string };

/** How long another one that holds the ref is waited for. */
const PATIENCE_MS = 20_000;

/** Moves the ref if the work says so; it is done only where nothing else is against the move. */
export async function moveHeld(
  dir: string,
  move: Move,
  work: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<HeldMove> {
  const { ref, to, from, message } = move;
  await using talk = new Talk(dir, message, signal);
  await talk.say(`start\nupdate ${ref} ${to} ${from}\nprepare\n`);
  if (!(await talk.hears('prepare: ok'))) return await talk.whyNot();
  if (!(await work())) return { kind: 'kept' }; // Without a commit git aborts.
  await talk.say('commit\n');
  return (await talk.hears('commit: ok')) ? { kind: 'moved' } : await talk.whyNot();
}

/** The words of a hook that did not let a ref move, each line once; null where it was no hook. */
export function objectionIn(stderr: string): string | null {
  const lines = stderr.trim().split('\n');
  if (!lines.some((line) => BY_HOOK.test(line))) return null;
  return [...new Set(lines)].filter((line) => !BY_HOOK.test(line)).join('\n');
}

const BY_HOOK = /^fatal: .*aborted by (?:the reference-transaction )?hook/;
const ELSEWHERE = /but expected|unable to resolve reference|reference is missing/;

/** One `git update-ref --stdin`, spoken with line by line. */
class Talk implements AsyncDisposable {
  readonly #input = Promise.withResolvers<Input | null>();
  readonly #ended: Promise<Exit | null>;
  readonly #heard = new Set<string>();
  readonly #errors: string[] = [];
  #wake: () => void = () => {};
  #isOver = false;

  constructor(dir: string, message: string, signal: AbortSignal) {
    const patience = `core.filesRefLockTimeout=${PATIENCE_MS}`;
    this.#ended = run(
      {
        file: 'git',
        args: ['-c', patience, 'update-ref', '-m', message, '--stdin'],
        cwd: dir,
        env: gitEnvironment(process.env, {}),
        stdin: '',
        keepsInput: true,
        graceMs: 1_000,
        mark: null,
        onStart: (input) => this.#input.resolve(input),
        onLine: (line, from) => {
          if (from === 'stderr') this.#errors.push(line);
          else this.#heard.add(line);
          this.#wake();
        },
      },
      signal,
    )
      .catch((error: unknown) => {
        this.#errors.push(String(error));
        return null;
      })
      .finally(() => {
        this.#isOver = true;
        this.#input.resolve(null);
        this.#wake();
      });
  }

  async say(text: string): Promise<void> {
    (await this.#input.promise)?.write(text);
  }

  /** Whether it says this; false once it has ended without. */
  async hears(line: string): Promise<boolean> {
    while (!this.#heard.has(line)) {
      if (this.#isOver) return false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return true;
  }

  /** What it said at its end, or how it ended without a word. */
  async whyNot(): Promise<HeldMove> {
    const exit = await this.#ended;
    const text = this.#errors.join('\n').trim();
    const said = objectionIn(text);
    if (said !== null) return { kind: 'refused', said };
    if (ELSEWHERE.test(text)) return { kind: 'lost' };
    const end = exit?.kind === 'signalled' ? exit.signal : 'it ended';
    return { kind: 'failed', why: text === '' ? `git update-ref did not answer: ${end}.` : text };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#input.promise)?.end();
    await this.#ended;
  }
}
