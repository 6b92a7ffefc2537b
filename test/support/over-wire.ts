/** A worker behind the text of the worker port, as one elsewhere would be. */

import type { Effect, Message } from '../../src/model/effect.ts';
import {
  decodeEffect,
  decodeMessage,
  encodeEffect,
  encodeMessage,
} from '../../src/transport/wire-format.ts';
import type { Worker } from '../../src/worker/worker.ts';

export function overWire(worker: Worker): Worker {
  const sent = <T extends Effect>(effect: T) => decodeEffect(encodeEffect(effect)) as T;
  const back = (message: Message) => decodeMessage(encodeMessage(message));
  return {
    attempt: (effect, emit, signal) =>
      worker.attempt(sent(effect), (message) => emit(back(message)), signal),
    release: (effect, report, signal) =>
      worker.release(
        sent(effect),
        (fact) => {
          const message = back({ kind: 'fact', event: fact });
          if (message.kind === 'fact') report(message.event);
        },
        signal,
      ),
  };
}
