/**
 * notifier: tells whoever the plan names of what happens to a run, while it goes on.
 *
 *   T1. Telling never changes a run: what goes wrong is a warning, the same one once.
 *   T2. What is told is told in order, one after the other: `finished`, then `failed`.
 *   T3. A warning may name a webhook's host, but neither its address nor a command of the plan:
 *       both may hold secrets.
 */

import { messageOf } from '../base/errors.ts';
import type { Entry } from '../model/event.ts';
import type { NotifySpec } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { brief } from '../report/clean.ts';
import { type Machine, runHook, showNote } from './local.ts';
import { type Notice, Notices } from './notice.ts';
import { payloadText } from './payload.ts';
import type { Network } from './webhook.ts';

export interface NotifierOptions {
  readonly run: string;
  /** The plan's own, with addresses that the journal does not hold. */
  readonly notify: readonly NotifySpec[];
  /** What happened before, for a run that goes on; it is the notifier's from now on. */
  readonly before: RunState | null;
  readonly mask: (text: string) => string;
  readonly machine: Machine;
  /** Null for the real one. */
  readonly network: Network | null;
  /** Rings the bell of the terminal; null where there is none. */
  readonly bell: (() => void) | null;
  readonly warn: (text: string) => void;
}

/** Watches the entries of one run. */
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

  /** Takes entries in as they are recorded. Returns at once and never throws. */
  recorded(entries: readonly Entry[]): void {
    if (this.#options.notify.length === 0) return;
    for (const entry of entries) {
      const { notices, state } = this.#notices.after(entry);
      for (const notice of notices) this.#tell(notice, state);
    }
  }

  /** Waits until everything is told; when `signal` aborts first, the rest is not. */
  async settle(signal: AbortSignal): Promise<void> {
    const stop = () => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    await this.#queue;
    signal.removeEventListener('abort', stop);
  }

  #tell(notice: Notice, state: RunState): void {
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

  async #send(
    to: NotifySpec['to'],
    text: string,
    note: { readonly title: string; readonly text: string },
  ): Promise<string | null> {
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
