/**
 * Makes a folder and its parents, like `mkdir -p`, in a bounded number of steps. Node's own
 * `recursive` tries for ever where a folder exists but takes no new ones (/proc).
 */

import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError } from './errors.ts';

/** Another process may remove the parent folder in between. */
const TRIES = 3;

/** An existing folder stays as it is. */
export function makeFolders(path: string, mode = 0o777): void {
  for (let left = TRIES; ; left -= 1) {
    try {
      return void mkdirSync(path, { mode });
    } catch (error) {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
      if (!isSystemError(error, 'ENOENT') || left === 0 || dirname(path) === path) throw error;
    }
    makeFolders(dirname(path), mode);
  }
}
