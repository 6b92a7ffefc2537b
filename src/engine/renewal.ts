/**
 * Renewal: an engine says every so often that it lives, and so finds out that its lease is lost.
 *
 *   R1. A lease that another engine has got is lost at once; a database that is busy for a while
 *       loses nothing, until others may think that this engine is gone.
 */

import { LEASE_MS, LeaseLostError } from '../journal/lease.ts';

/** How often; at least three times while a lease lasts. */
export const RENEW_MS = 10_000;

export class Renewal {
  readonly #renew: () => void;
  /** A clock that nobody sets. */
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
