/**
 * touched: when anybody last did something to what a process has in its hands. Of a process of
 * another host, or container, nothing else tells whether it is alive.
 *
 *   A1. Changes count, not looks: the time in the name of a claim, of its folder, and of all files
 *       of the git folder that is its own. Whoever fills a workspace, wipes or moves it writes to
 *       one of them.
 */

import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { gitFolderOf, textOf } from '../git/git-dir.ts';

/** When somebody last did something to a claim, in milliseconds since 1970. */
export function claimTouchedAt(commonDir: string, path: string): number {
  const entry = entryOf(commonDir, path);
  const within = entry === null ? [] : [entry, ...below(entry)];
  return Math.max(claimedAt(path), ...[path, ...within].map(changedAt));
}

/** The same for a folder that is being filled. */
export function folderTouchedAt(path: string): number {
  return Math.max(...[path, ...below(path)].map(changedAt));
}

/** The git folder of a claim; also of one whose own folder is not there yet, or any more. */
function entryOf(commonDir: string, path: string): string | null {
  if (existsSync(`${path}/.git`)) return gitFolderOf(path);
  const entries = below(`${commonDir}/worktrees`);
  return entries.find((entry) => textOf(`${entry}/gitdir`)?.trimEnd() === `${path}/.git`) ?? null;
}

/** When a claim was made, by its name (idle.ts); 0 where that does not tell. */
function claimedAt(path: string): number {
  return Number(/\.(\d{13})-[^./]*$/.exec(path)?.[1] ?? 0);
}

function below(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => `${folder}/${name}`);
  } catch {
    return [];
  }
}

function changedAt(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
