/** A queue with many writers and one reader: the only way facts reach the engine's loop. */

export class Inbox<T> {
  #items: T[] = [];
  #wake: (() => void) | undefined;

  send(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** All items; waits for the first one or for `until`, whichever comes first. */
  async takeAll(until: Promise<unknown>): Promise<readonly T[]> {
    if (this.#items.length === 0) {
      const { promise: arrived, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await Promise.race([arrived, until]);
      this.#wake = undefined;
    }
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
