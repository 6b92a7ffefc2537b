/** Available memory and load of this machine. What the system does not tell is null. */

import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { otherwise } from '../base/errors.ts';

/** Bytes of memory available without swapping. */
export async function availableMemory(signal: AbortSignal): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const text = await readFile('/proc/meminfo', { encoding: 'utf8', signal }).catch(otherwise(''));
  return memoryIn(text);
}

/** `MemAvailable` of Linux, in bytes. */
export function memoryIn(meminfo: string): number | null {
  const [, kib] = /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo) ?? [];
  return kib === undefined ? null : Number(kib) * 1_024;
}

/** The load average of the last minute, divided among the cores that may be used. */
export function loadPerCore(): number | null {
  if (process.platform === 'win32') return null; // There it is always zero.
  const [minute = 0] = loadavg();
  return minute / availableParallelism();
}
