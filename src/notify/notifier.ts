/**
 * Sends the notices of a run, while it runs, to the receivers that the plan names.
 *
 *   T1. A notice never changes a run: a failure to send is a warning, the same one once.
 *   T2. Notices are sent in order, one after the other: `finished`, then `failed`.
 *   T3. A warning may name a webhook's host, but neither its address nor a command of the plan:
 *       both may hold secrets.
 */

import { messageOf } from '../base/errors.ts';
import type { Entry } from '../model/event.ts';
import type { NotifySpec } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { brief } from '../report/sanitize.ts';
import { type Machine, type Note, runHook, showNote } from './local.ts';
import { type Notice, Notices, payloadText } from './notice.ts';
import type { Network } from './webhook.ts';

export interface NotifierOptions {
  readonly run: string;
  /** The plan's own, with addresses that the journal does not hold. */
  readonly notify: readonly NotifySpec[];
  /** The state of a run that is resumed; the notifier owns it from now on. */
  readonly before: RunState | null;
  readonly mask: (text: string) => string;
  readonly machine: Machine;
  /** Null for the real one. */
  readonly network: Network | null;
  /** Rings the bell of the terminal; null where there is none. */
  readonly bell: (() => void) | null;
  readonly warn: (text: string) => void;
}

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #notices: Notices;
  readonly #warned = new Set<string>();
  readonly #stop = new AbortController();
  #queue: Promise<void> = Promise.resolve();

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#notices = new Notices(options.before);
  }

  /** Takes entries as they are recorded. Returns at once and never throws. */
  recorded(entries: readonly Entry[]): void {
    if (this.#options.notify.length === 0) return;
    for (const entry of entries) {
      const { notices, state } = this.#notices.after(entry);
      for (const notice of notices) this.#notify(notice, state);
    }
  }

  /** Waits until everything is sent; when `signal` aborts first, the rest is dropped. */
  async settle(signal: AbortSignal): Promise<void> {
    const stop = () => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    await this.#queue;
    signal.removeEventListener('abort', stop);
  }

  #notify(notice: Notice, state: RunState): void {
    const { run, mask, notify } = this.#options;
    const to = notify.filter(({ on }) => on.includes(notice.on)).map((spec) => spec.to);
    if (to.length === 0) return;
    const text = payloadText(notice, state, { run, mask });
    const note = {
      title: `Landfast: ${brief(mask(state.plan.name), 60)}`,
      text: brief(mask(notice.text), 200),
    };
    for (const each of to) {
      this.#queue = this.#queue
        .then(() => this.#send(each, text, note))
        .catch((error: unknown) => messageOf(error))
        .then((problem) => this.#warn(each.kind, problem));
    }
  }

  async #send(to: NotifySpec['to'], text: string, note: Note): Promise<string | null> {
    const { machine, network, bell } = this.#options;
    const { signal } = this.#stop;
    switch (to.kind) {
      case 'webhook': {
        // Node's HTTP takes a while to load, and few runs need it.
        const { INTERNET, postJson } = await import('./webhook.ts');
        return postJson(to.url, text, network ?? INTERNET, signal);
      }
      case 'command':
        return runHook(to.run, text, machine, signal);
      case 'desktop':
        return showNote(note, machine, signal);
      case 'bell':
        bell?.();
        return null;
    }
  }

  #warn(kind: NotifySpec['to']['kind'], problem: string | null): void {
    if (problem === null) return;
    const why = brief(this.#options.mask(problem), 300);
    const text = `landfast: warning: the ${NAMES[kind]} could not be sent: ${why}`;
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#options.warn(text);
  }
}

const NAMES: Readonly<Record<NotifySpec['to']['kind'], string>> = {
  webhook: 'notification by webhook',
  command: 'notification by command',
  desktop: 'notification on the desktop',
  bell: 'bell',
};
