/**
 * The folders that processes of this machine work in: whoever is in one may write to it, whatever
 * became of his parents and his environment.
 *
 *   U1. Only what the system tells is known: on Linux, of processes of the same user; for root, of
 *       all. Of a process that works elsewhere and has a file open nothing is seen.
 *   U2. A folder that was moved is told of where it is now.
 */

import { readdirSync, readlinkSync } from 'node:fs';

/** Each once; none where the system does not tell. */
export function foldersInUse(): readonly string[] {
  const folders = new Set<string>();
  for (const name of processNames()) {
    try {
      folders.add(readlinkSync(`/proc/${name}/cwd`));
    } catch {
      // It is somebody else's, or has ended.
    }
  }
  return [...folders];
}

function processNames(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
