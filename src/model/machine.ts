/**
 * The machine that a run is on, as far as it decides what may start (schedule/machine-limits.ts).
 * What was not measured, or the system does not tell, is null.
 */

export interface Machine {
  /** Of the workspaces' disk or the git directory's, whichever has less. */
  readonly diskFreeBytes: number | null;
  /** What the workspaces and the data of all runs of the repository take. */
  readonly diskUsedBytes: number | null;
  /** Available without swapping. */
  readonly memoryFreeBytes: number | null;
  /** The load average of the last minute per core. */
  readonly loadPerCore: number | null;
}

/** A machine of which nothing is known: nothing waits for it. */
export const UNMEASURED: Machine = {
  diskFreeBytes: null,
  diskUsedBytes: null,
  memoryFreeBytes: null,
  loadPerCore: null,
};

/**
 * What the machine is short of.
 *   disk         free space: no attempt starts
 *   disk-budget  what runs may take: no workspace is made; existing ones may be used
 *   memory       no attempt of a coding agent starts beside others
 *   load         computing power: no attempt starts beside others
 */
export type Shortage = 'disk' | 'disk-budget' | 'memory' | 'load';

/** Free space left to the system and to git, unless the plan says otherwise. */
export const LEAST_FREE_BYTES = 500_000_000;

/** Memory of a coding agent's attempt, unless the plan says otherwise. */
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
