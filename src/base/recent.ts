/**
 * A cache of the last values by key, limited by their total weight. The oldest is evicted first;
 * the newest stays, whatever its weight.
 */

export class Recent<Key, Value> {
  readonly #most: number;
  readonly #weigh: (value: Value) => number;
  readonly #values = new Map<Key, Value>();
  #weight = 0;

  /** `weigh` is constant per value; the default is 1. */
  constructor(most: number, weigh: (value: Value) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#values.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#most || oldest === key) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#weight -= this.#weigh(value);
  }
}
