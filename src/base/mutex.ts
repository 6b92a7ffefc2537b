/** One at a time, in order of arrival. */

export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when everything asked for earlier is over, however that ended. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
