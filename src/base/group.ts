/**
 * Work that cannot outlive its starter: `settle` waits for all members of a Group, and throws the
 * first error of one, which also stops the others.
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
