/** Following a run that somebody else drives: until it is over, or its engine is dead. */

import { openForReading } from '../journal/database.ts';
import { outcomeOf } from '../journal/log.ts';
import { resumeCommand } from '../report/remedy.ts';
import { isLive } from './find-run.ts';

const LOOK_MS = 500;

/** Aborted by Ctrl-C, and when no engine is left that could bring the run to an end. */
export class Following implements Disposable {
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #interrupt = (): void => this.#stop.abort('interrupted');

  constructor(stateDir: string, run: string) {
    process.once('SIGINT', this.#interrupt);
    this.#timer = setInterval(() => {
      using db = openForReading(stateDir);
      if (db === null || isLive(db, run) || outcomeOf(db, run) !== null) return;
      console.error(`No engine works on this run. Go on: ${resumeCommand(run)}`);
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
