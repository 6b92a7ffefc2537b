/** Limits that somebody sets anew for a run that goes on; the others stay what they were. */

import type { LimitsSpec } from './plan.ts';

/** What an event that sets limits anew may hold. */
export type NewLimits = Partial<Omit<LimitsSpec, 'gates' | 'groups'>>;

/** The compiler rejects a missing one. */
const ALL: Readonly<Record<keyof NewLimits, true>> = {
  workers: true,
  budgetUsd: true,
  diskBytes: true,
  diskFreeBytes: true,
  memoryPerAttempt: true,
  loadPerCore: true,
};

/** The limits in an event, without its other fields. */
export function newLimits(event: NewLimits): NewLimits {
  return Object.fromEntries(Object.entries(event).filter(([key]) => Object.hasOwn(ALL, key)));
}
