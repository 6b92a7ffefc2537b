/** Flags that set the limits of a run: of a new one, and anew of one that goes on. Pure. */

import type { LimitChanges } from '../model/plan.ts';

/** The flags about limits, as they are given. */
export interface LimitFlags {
  readonly maxWorkers?: number;
  readonly sequential?: boolean;
  readonly gates?: number;
  readonly budget?: number;
  readonly disk?: number;
  readonly diskFree?: number;
  readonly memoryPerAttempt?: number;
  readonly load?: number;
}

/** The limits that were given; the others stay what they are. */
export function limitsFrom(flags: LimitFlags): LimitChanges {
  const { sequential, maxWorkers, gates, budget, disk, diskFree, memoryPerAttempt, load } = flags;
  const workers = sequential === true ? 1 : maxWorkers;
  return {
    ...(workers === undefined ? {} : { workers }),
    ...(gates === undefined ? {} : { gates }),
    ...(budget === undefined ? {} : { budgetUsd: budget }),
    ...(disk === undefined ? {} : { diskBytes: disk }),
    ...(diskFree === undefined ? {} : { diskFreeBytes: diskFree }),
    ...(memoryPerAttempt === undefined ? {} : { memoryPerAttempt }),
    ...(load === undefined ? {} : { loadPerCore: load }),
  };
}
