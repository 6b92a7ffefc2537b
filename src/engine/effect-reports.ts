/**
 * The facts that one effect reports while it is performed.
 *
 * - An effect has one final fact per task. A repeated one is ignored.
 * - An attempt that ends without a final fact has failed; any other effect that does so is a bug
 *   and ends the engine. The next engine finds out what was done.
 */

import { InvariantError } from '../base/errors.ts';
import { type Effect, isLastWord, keyOf } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import type { StopReason } from './world.ts';

export class EffectReports {
  readonly #effect: Effect;
  readonly #send: (fact: Event) => void;
  readonly #over = new Set<TaskId | null>();

  constructor(effect: Effect, send: (fact: Event) => void) {
    this.#effect = effect;
    this.#send = send;
  }

  accept(fact: Event): void {
    if (isLastWord(fact)) {
      const about = 'task' in fact ? fact.task : null;
      if (this.#over.has(about)) return;
      this.#over.add(about);
    }
    this.#send(fact);
  }

  /** The effect has ended; the signal says whether it was asked to. */
  close(signal: AbortSignal): void {
    if (this.#over.size > 0) return;
    const effect = this.#effect;
    if (effect.kind === 'attempt') {
      const { task, attempt } = effect;
      const kind = signal.aborted ? stopKind(signal.reason) : 'transient';
      const failure = { kind, message: 'It ended without a result.' } as const;
      this.accept({ type: 'attempt.failed', task, attempt, failure, exitCode: null });
    } else if (!signal.aborted) {
      throw new InvariantError(`${keyOf(effect)} ended without a word`);
    }
  }
}

function stopKind(reason: unknown): StopReason {
  return reason === 'cancelled' ? reason : 'interrupted';
}
