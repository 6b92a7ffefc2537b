/**
 * Work that cannot outlive its starter: a Group waits for all of its members.
 *
 * - The first error of a member stops the group and is thrown again by `settle`.
 * - After `settle` no member is running.
 */

export class Group {
  readonly signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #members = new Set<Promise<void>>();

  constructor(parent: AbortSignal) {
    this.signal = AbortSignal.any([parent, this.#stop.signal]);
  }

  start(work: (signal: AbortSignal) => Promise<void>): void {
    const member: Promise<void> = work(this.signal)
      .catch((error: unknown) => this.#stop.abort(error))
      .finally(() => this.#members.delete(member));
    this.#members.add(member);
  }

  async settle(): Promise<void> {
    while (this.#members.size > 0) await Promise.all(this.#members);
    this.#stop.signal.throwIfAborted();
  }
}
