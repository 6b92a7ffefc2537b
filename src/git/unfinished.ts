/** What git has begun in a working tree and was not told to conclude, by the names it leaves. */

import { existsSync } from 'node:fs';
import { gitDirOf } from './git-dir.ts';

const BEGUN = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

/** Whether a merge, rebase, cherry-pick or revert waits to be concluded. */
export function isHalfDone(dir: string): boolean {
  return BEGUN.some((name) => isThere(dir, name));
}

/** Whether a merge waits to be concluded. */
export function isMerging(dir: string): boolean {
  return isThere(dir, 'MERGE_HEAD');
}

/** Whether a rebase was begun: unlike the others it outlives a checkout. */
export function isRebasing(dir: string): boolean {
  return ['rebase-merge', 'rebase-apply'].some((name) => isThere(dir, name));
}

/** Whether a cherry-pick waits to be concluded. */
export function isPicking(dir: string): boolean {
  return isThere(dir, 'CHERRY_PICK_HEAD');
}

function isThere(dir: string, name: string): boolean {
  return existsSync(`${gitDirOf(dir)}/${name}`);
}
