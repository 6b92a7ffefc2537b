/**
 * The machine that a run is on, as far as it decides what may start. Measured elsewhere; what the
 * scheduler makes of it is in schedule/machine-limits.ts.
 */

export interface Machine {
  /**
   * Free bytes on the disk of the workspaces or of the git directory, whichever has less; null
   * where the system does not tell.
   */
  readonly diskFreeBytes: number | null;
  /** What the workspaces and the data of all runs of the repository take; null if not measured. */
  readonly diskUsedBytes: number | null;
  /** Memory that could be had without swapping; null where the system does not tell. */
  readonly memoryFreeBytes: number | null;
  /** The load average of the last minute for each core; null where the system does not tell. */
  readonly loadPerCore: number | null;
}

/** Nothing is known of it, so that nothing waits for it. */
export const UNMEASURED: Machine = {
  diskFreeBytes: null,
  diskUsedBytes: null,
  memoryFreeBytes: null,
  loadPerCore: null,
};

/**
 * What there is too little of.
 *   disk         free space: no attempt starts
 *   disk-budget  of what runs may take: no workspace is made, those there are may be used
 *   memory       no attempt of a coding agent starts beside others
 *   load         of what the cores can take: no attempt starts beside others
 */
export type Shortage = 'disk' | 'disk-budget' | 'memory' | 'load';

/** Free space that is left to the system and to git, where the plan does not say. */
export const LEAST_FREE_BYTES = 500_000_000;

/** What an attempt of a coding agent takes of the memory, where the plan does not say. */
export const ATTEMPT_BYTES = 300_000_000;

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** `1.5 GB`: sizes as disks are sold. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}
