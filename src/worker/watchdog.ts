/**
 * The watchdog ends an agent that takes too long, hangs or repeats itself. The first reason wins,
 * and no time passes while it is halted.
 *
 *   total   from start to end, whatever happens
 *   idle    no sign of life; a tool that runs may be silent for longer, and an announced retry adds its
 *           delay. A script has no idle limit: its silence cannot be told from its work
 *   linger  finished but not exited: a few seconds after the last result
 *   auth    an agent that cannot log in is ended at its first retry: it would keep trying for minutes
 *   stuck   the same tool call, over and over
 */

import { Countdown } from '../base/countdown.ts';
import type { Haltable } from '../base/suspension.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Failure } from '../model/failure.ts';

const TOOL_PATIENCE = 4;
const LINGER_MS = 10_000;
/** A few identical calls may be polling; this many are not. */
const MOST_REPEATS = 20;

/** Why the watchdog ended an agent: a failure, or that it was done and only lingered. */
export type Ended = { readonly failure: Failure } | { readonly lingered: true };

export class Watchdog implements Disposable, Haltable {
  readonly #stop = new AbortController();
  readonly #limits: { readonly timeoutMs: number; readonly idleMs: number };
  readonly #total: Countdown;
  readonly #tools = new Set<string>();
  #idle: Countdown | null = null;
  #linger: Countdown | null = null;
  #halted = false;
  #background = 0;
  #lastCall = '';
  #repeats = 0;

  constructor(limits: { readonly timeoutMs: number; readonly idleMs: number }) {
    this.#limits = limits;
    const { timeoutMs } = limits;
    this.#total = new Countdown(timeoutMs, () => {
      const message = `Not finished after ${seconds(timeoutMs)}.`;
      this.#end({ failure: { kind: 'total-timeout', message, afterMs: timeoutMs } });
    });
    this.alive();
  }

  /** Aborted with an `Ended` as its reason. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  alive(extraMs = 0): void {
    this.#idle?.[Symbol.dispose]();
    const { idleMs } = this.#limits;
    if (!Number.isFinite(idleMs)) return;
    const patience = (this.#tools.size > 0 ? idleMs * TOOL_PATIENCE : idleMs) + extraMs;
    this.#idle = this.#countdown(patience, () => {
      const message = `No sign of life for ${seconds(patience)}.`;
      this.#end({ failure: { kind: 'idle-timeout', message, afterMs: patience } });
    });
  }

  saw(event: AgentEvent): void {
    this.#linger?.[Symbol.dispose]();
    this.#linger = null;
    if (event.type === 'tool.start') this.#call(event);
    if (event.type === 'tool.end') this.#tools.delete(event.id);
    if (event.type === 'activity') this.#background = event.background ?? this.#background;
    if (event.type === 'retry' && event.failure.kind === 'auth')
      this.#end({ failure: event.failure });
    if (event.type === 'result' && this.#background === 0) {
      this.#linger = this.#countdown(LINGER_MS, () => this.#end({ lingered: true }));
    }
    this.alive(event.type === 'retry' ? event.delayMs : 0);
  }

  halt(): void {
    this.#halted = true;
    for (const countdown of this.#countdowns()) countdown.halt();
  }

  goOn(): void {
    this.#halted = false;
    for (const countdown of this.#countdowns()) countdown.goOn();
  }

  [Symbol.dispose](): void {
    for (const countdown of this.#countdowns()) countdown[Symbol.dispose]();
  }

  #countdowns(): readonly Countdown[] {
    return [this.#total, this.#idle, this.#linger].filter((each) => each !== null);
  }

  /** Lines may still arrive after the halt. */
  #countdown(ms: number, over: () => void): Countdown {
    return new Countdown(ms, over, this.#halted);
  }

  #call({ id, name, input }: AgentEvent & { type: 'tool.start' }): void {
    this.#tools.add(id);
    const call = `${name} ${JSON.stringify(input)}`;
    this.#repeats = call === this.#lastCall ? this.#repeats + 1 : 1;
    this.#lastCall = call;
    if (this.#repeats < MOST_REPEATS) return;
    const message = `It made the same tool call ${MOST_REPEATS} times in a row: ${call.slice(0, 200)}`;
    this.#end({ failure: { kind: 'stuck', message } });
  }

  #end(reason: Ended): void {
    if (!this.#stop.signal.aborted) this.#stop.abort(reason);
  }
}

function seconds(ms: number): string {
  return ms >= 120_000 ? `${Math.round(ms / 60_000)} minutes` : `${ms / 1000} s`;
}
