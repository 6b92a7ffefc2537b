/** Following a run that somebody else drives: until it is over, or its engine is dead. */

import { isLive } from '../../app/find-run.ts';
import { openForReading } from '../../journal/database.ts';
import { outcomeOf } from '../../journal/journal.ts';
import { resumeCommand } from '../../report/remedy.ts';
import { notIgnored } from './signals.ts';

const LOOK_MS = 500;

/** Aborted by Ctrl-C, and when no engine is left that could bring the run to an end. */
export class Following implements Disposable {
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #interrupt = (): void => this.#stop.abort('interrupted');

  constructor(stateDir: string, run: string) {
    for (const name of notIgnored('SIGINT')) process.once(name, this.#interrupt);
    this.#timer = setInterval(() => {
      using db = openForReading(stateDir);
      if (db === null || isLive(db, run) || outcomeOf(db, run) !== null) return;
      console.error(`No engine is driving this run. Continue: ${resumeCommand(run)}`);
      this.#stop.abort('dead');
    }, LOOK_MS);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    process.off('SIGINT', this.#interrupt);
  }
}
