/**
 * Renewal: an engine renews its lease regularly, and so finds out that it has lost it.
 *
 * - A lease that another engine has got is lost at once; a busy database loses nothing until other
 *   engines may take this one for dead.
 */

import { LEASE_MS, LeaseLostError } from '../journal/lease.ts';

/** How often; at least three times while a lease lasts. */
export const RENEW_MS = 10_000;

export class Renewal {
  readonly #renew: () => void;
  /** A monotonic clock. */
  readonly #passing: () => number;
  #renewedAt: number;

  constructor(renew: () => void, passing: () => number) {
    this.#renew = renew;
    this.#passing = passing;
    this.#renewedAt = passing();
  }

  /** Renews the lease; answers with the error for which the engine has to stop, or null. */
  tick(): unknown {
    try {
      this.#renew();
      this.#renewedAt = this.#passing();
      return null;
    } catch (error) {
      const isOver =
        error instanceof LeaseLostError || this.#passing() - this.#renewedAt > LEASE_MS;
      return isOver ? error : null;
    }
  }
}
