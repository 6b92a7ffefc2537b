/**
 * What signals ask for. The first Ctrl-C drains, the second ends the agents, a third ends the
 * engine; SIGTERM and SIGHUP end the agents at once. Work is kept in every case.
 *
 *   G1. A signal that was ignored when the program was started stays ignored: `nohup landfast run`.
 */

import type { Command } from '../../model/command.ts';
import type { RunState } from '../../model/state.ts';
import { exitCodeOf } from '../../report/summary.ts';

export class Signals implements Disposable {
  #waiting: Command[] = [];
  #interrupts = 0;
  #caught: NodeJS.Signals | null = null;
  readonly #force = new AbortController();
  readonly #say: (text: string) => void;
  readonly #listener = (name: NodeJS.Signals): void => this.#catch(name);

  constructor(say: (text: string) => void) {
    this.#say = say;
    for (const name of notIgnored(...CAUGHT)) process.on(name, this.#listener);
  }

  /** Aborted when nothing but the end will do. */
  get force(): AbortSignal {
    return this.#force.signal;
  }

  /** The exit code that tells the caller of the signal; null when there was none. */
  get exitCode(): number | null {
    return this.#caught === null ? null : signalExitCode(this.#caught);
  }

  take(): readonly Command[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  [Symbol.dispose](): void {
    for (const name of CAUGHT) process.off(name, this.#listener);
  }

  #catch(name: NodeJS.Signals): void {
    this.#caught ??= name;
    const why = wordFor(name);
    if (name !== 'SIGINT') return this.#stop('end', why, 'Ending agents, keeping their work.');
    this.#interrupts += 1;
    if (this.#interrupts === 1) {
      this.#stop('drain', why, 'Running agents may finish. Press Ctrl-C again to end them.');
    } else if (this.#interrupts === 2) {
      this.#stop(
        'end',
        why,
        'Ending agents, keeping their work. Press Ctrl-C again to exit at once.',
      );
    } else {
      this.#force.abort('interrupted');
    }
  }

  #stop(mode: 'drain' | 'end', why: string, told: string): void {
    this.#say(`${why}: ${told}`);
    this.#waiting.push({ kind: 'stop', mode, why });
  }
}

/**
 * Does work with a signal that these signals of the system abort, each with its name. With `once`, a
 * second one ends the process.
 */
export async function untilSignalled<T>(
  names: readonly NodeJS.Signals[],
  listen: 'on' | 'once',
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const listener = (name: NodeJS.Signals): void => stop.abort(name);
  for (const name of notIgnored(...names)) process[listen](name, listener);
  try {
    return await work(stop.signal);
  } finally {
    for (const name of names) process.off(name, listener);
  }
}

/** Those of these signals that were not ignored at the start (bin/landfast.cjs finds out). */
function notIgnored<Name extends NodeJS.Signals>(...names: Name[]): readonly Name[] {
  const ignored = (process.env.LANDFAST_IGNORED ?? '').split(' ');
  return names.filter((name) => !ignored.includes(name));
}

const CAUGHT = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function wordFor(name: NodeJS.Signals): string {
  return name === 'SIGINT' ? 'Ctrl-C' : name;
}

/** The exit code of a run, as the process that drove it gave it. */
export function runExitCode(state: RunState): number {
  const { outcome, stopping } = state;
  const why = outcome === 'interrupted' ? stopping?.why : undefined;
  return SIGNAL_EXITS.get(why ?? '') ?? exitCodeOf(state);
}

/** The exit code of a process that ends because of a signal. */
export function signalExitCode(name: NodeJS.Signals): number {
  return SIGNAL_EXITS.get(wordFor(name)) ?? 1;
}

const SIGNAL_EXITS: ReadonlyMap<string, number> = new Map([
  ['Ctrl-C', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]);
