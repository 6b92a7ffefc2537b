/** One at a time, in order of arrival. */

export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` once all earlier work has settled. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = Promise.allSettled([result]);
    return result;
  }
}
