/**
 * budget: the run's money, from limits to what one attempt may spend.
 *
 *   B1. What running attempts have reserved and not spent is not given out again: together they
 *       never get more than there is.
 *   B2. Only coding agents spend; a script neither reserves nor waits for money.
 */

import { costOf, type RunState, type TaskState } from '../model/state.ts';

/** Less than this is nothing: sums of fractions never quite come out even. */
const LEAST_USD = 0.0001;

/** Whether all of the run's money is gone. */
export function isSpent(state: RunState): boolean {
  return budgetLeft(state) < LEAST_USD;
}

/** What the run may still spend, running attempts counted with what they have cost so far. */
function budgetLeft(state: RunState): number {
  const { budgetUsd } = state.plan.limits;
  return budgetUsd === undefined ? Number.POSITIVE_INFINITY : budgetUsd - costOf(state);
}

/** The money that can be promised to new attempts. */
export class Purse {
  #left: number;

  constructor(state: RunState, active: readonly TaskState[]) {
    this.#left = budgetLeft(state);
    for (const task of active) {
      const attempt = task.attempts.at(-1);
      this.#left -= Math.max(0, (attempt?.reservedUsd ?? 0) - (attempt?.costUsd ?? 0));
    }
  }

  get isEmpty(): boolean {
    return this.#left < LEAST_USD;
  }

  /** An equal share for each that may start now; null where the run has no budget. */
  take(shares: number): number | null {
    if (!Number.isFinite(this.#left)) return null;
    const share = this.#left / Math.max(1, shares);
    this.#left -= share;
    return share;
  }
}
