/**
 * budget: the run's money, from limits to what one attempt may spend.
 *
 * - What running attempts have reserved and not spent is not given out again.
 * - An attempt gets at least its likely cost, or waits for what others leave. With no other spender
 *   it gets what there is: no estimate stops a run.
 * - Only coding agents spend; a script neither reserves nor waits for money.
 */

import { type Assignee, isSameAssignee } from '../model/plan.ts';
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

/** What an attempt is likely to cost: as the plan says, or as others by the same assignee did. */
export function estimateOf(state: RunState, { spec }: TaskState, by: Assignee): number | null {
  if (spec.estimateUsd !== undefined) return spec.estimateUsd;
  const costs = [...state.tasks.values()]
    .flatMap(({ attempts }) => attempts)
    .filter(({ endedAt, failure }) => endedAt !== null && failure === null)
    .filter((attempt) => attempt.costUsd > 0 && isSameAssignee(attempt.by, by))
    .map(({ costUsd }) => costUsd);
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost) / costs.length;
}

/** The money that can be promised to new attempts. */
export class Purse {
  #left: number;
  /** What is promised and not spent. */
  #promised = 0;

  constructor(state: RunState, active: readonly TaskState[]) {
    for (const task of active) {
      const attempt = task.attempts.at(-1);
      this.#promised += Math.max(0, (attempt?.reservedUsd ?? 0) - (attempt?.costUsd ?? 0));
    }
    this.#left = budgetLeft(state) - this.#promised;
  }

  /** Whether an attempt that is likely to cost so much has to wait. */
  lacks(estimate: number | null): boolean {
    if (this.#left < LEAST_USD) return true;
    return this.#promised >= LEAST_USD && this.#left + LEAST_USD < (estimate ?? 0);
  }

  /**
   * An equal share for each that may start now, of which there are fewer where a share would not
   * suffice; null where the run has no budget.
   */
  take(shares: number, estimate: number | null): number | null {
    if (!Number.isFinite(this.#left)) return null;
    const most = estimate === null ? shares : Math.floor((this.#left + LEAST_USD) / estimate);
    const share = this.#left / Math.max(1, Math.min(shares, most));
    this.#left -= share;
    this.#promised += share;
    return share;
  }
}
