/**
 * Runtime: what one run, or one command, owns in this process: its environment, and every shell,
 * long-lived process, cache and temporary folder that the folders below `app` keep for it.
 *
 * - Runtimes share nothing. A module declares what it keeps as a PerRuntime value; each runtime
 *   makes its own on first use and closes it at its end.
 * - Code runs in the runtime whose `enter` called it, however many awaits ago (AsyncLocalStorage).
 *   No function passes a runtime on.
 * - Outside of any runtime, and once it is closed, nothing is kept: programs are started directly,
 *   answers are not remembered.
 * - `process.env` is read here only, for code outside of any runtime.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from './timing.ts';

export interface RuntimeOptions {
  /** The environment of everything that is started here. */
  readonly env: NodeJS.ProcessEnv;
  /** The id of a run, which starts git often enough to keep shells for it; null for a command. */
  readonly run?: string | null;
  /** The repository that git processes stay open for. */
  readonly repository?: { readonly commonDir: string; readonly dir: string } | null;
  /** Receives every timed span (timing.ts). */
  readonly onSpan?: ((span: Span) => void) | null;
}

const runtimes = new AsyncLocalStorage<Runtime>();

export class Runtime implements AsyncDisposable {
  readonly env: NodeJS.ProcessEnv;
  readonly run: string | null;
  readonly repository: { readonly commonDir: string; readonly dir: string } | null;
  readonly onSpan: ((span: Span) => void) | null;
  readonly #values = new Map<object, { readonly value: unknown; close(): Promise<void> }>();
  #isClosed = false;

  constructor({ env, run = null, repository = null, onSpan = null }: RuntimeOptions) {
    this.env = env;
    this.run = run;
    this.repository = repository;
    this.onSpan = onSpan;
  }

  /** Calls `work`; everything that follows from the call belongs to this runtime. */
  enter<T>(work: () => T): T {
    return runtimes.run(this, work);
  }

  /** This runtime's own value, made on first use; null once the runtime is closed. */
  valueOf<T>(kind: PerRuntime<T>): T | null {
    if (this.#isClosed) return null;
    const known = this.#values.get(kind);
    if (known !== undefined) return known.value as T;
    const value = kind.make(this);
    this.#values.set(kind, { value, close: async () => kind.close?.(value) });
    return value;
  }

  /** Closes every value; throws the first failure once all are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const values = [...this.#values.values()];
    this.#values.clear();
    const closed = await Promise.allSettled(values.map((each) => this.enter(each.close)));
    for (const each of closed) if (each.status === 'rejected') throw each.reason;
  }
}

/** A value that each runtime has its own of. */
export class PerRuntime<T> {
  readonly make: (runtime: Runtime) => T;
  readonly close: ((value: T) => Promise<void>) | undefined;

  constructor(make: (runtime: Runtime) => T, close?: (value: T) => Promise<void>) {
    this.make = make;
    this.close = close;
  }

  /** That of the current runtime; null outside of any. */
  get current(): T | null {
    return currentRuntime()?.valueOf(this) ?? null;
  }
}

export function currentRuntime(): Runtime | null {
  return runtimes.getStore() ?? null;
}

/** The environment that programs are started with. */
export function environment(): NodeJS.ProcessEnv {
  return currentRuntime()?.env ?? process.env;
}
