/**
 * A task's log as a story: `<dir>/<task>.log`, all attempts one after the other, while they happen.
 *
 *   L1. Only whole lines are written: a secret that comes in pieces is masked as one.
 *   L2. The first attempt of a run begins the file anew; each further one is below a marker.
 */

import type { Chatter } from '../model/effect.ts';
import type { AttemptStart } from '../model/event.ts';
import type { Sink } from './sink.ts';

/** Turns what an attempt says into text (agents/story.ts). */
export interface Storyteller {
  hear(chatter: Chatter, at: number): string;
}

/** More than this is written even if the line has no end. */
const LONGEST_LINE = 64 * 1024;

/** The log of one attempt. */
export class StoryLog {
  readonly #sink: Sink;
  readonly #teller: Storyteller;
  readonly #mask: (text: string) => string;
  #waiting = '';

  constructor(sink: Sink, teller: Storyteller, mask: (text: string) => string) {
    this.#sink = sink;
    this.#teller = teller;
    this.#mask = mask;
  }

  /** Writes what stands between two attempts; the first one only begins the file anew. */
  begin(attempt: number, start: AttemptStart): void {
    this.#sink.write(attempt === 1 ? '' : this.#mask(markerOf(start)));
  }

  heard(chatter: Chatter, at: number): void {
    this.#waiting += this.#teller.hear(chatter, at);
    const end = this.#waiting.lastIndexOf('\n') + 1;
    const ready = this.#waiting.length - end > LONGEST_LINE ? this.#waiting.length : end;
    if (ready === 0) return;
    this.#sink.write(this.#mask(this.#waiting.slice(0, ready)));
    this.#waiting = this.#waiting.slice(ready);
  }

  async close(signal: AbortSignal): Promise<void> {
    if (this.#waiting !== '') this.#sink.write(`${this.#mask(this.#waiting)}\n`);
    this.#waiting = '';
    await this.#sink.close(signal);
  }
}

function markerOf(start: AttemptStart): string {
  const session = start.kind === 'fresh' ? null : start.session;
  return `\n--- RETRY${session === null ? '' : ` (resuming session ${session})`} ---\n`;
}
