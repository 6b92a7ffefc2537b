/**
 * burden: how much the processes of this machine leave to others, of its memory and of its cores.
 *
 *   B1. What the system does not tell is null, never a guess: nobody waits for it.
 */

import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';

/** Bytes of memory that can be had without swapping; null where the system does not tell. */
export async function availableMemory(signal: AbortSignal): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const text = await readFile('/proc/meminfo', { encoding: 'utf8', signal }).catch(() => '');
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
