/**
 * retention: which of the worktrees that wait stay for a later run.
 *
 *   K1. As many as the place says, those that became idle last; where making a new one costs next
 *       to nothing, none, unless the user has said how many.
 *   K2. Those that somebody has asked for stay, however many they are, unless the user has said
 *       that fewer are to stay.
 *   K3. One in which a process works does not: it may be a program that its task has left behind,
 *       and would write into the next task's files. The process is left alone: it may be a
 *       shell of the user's.
 */

import { realOf } from '../git/git-dir.ts';
import { foldersInUse } from '../process/folders-in-use.ts';
import type { IdleWorktree } from './idle.ts';
import type { PoolPlace } from './pool.ts';

/** Below so many files a new workspace costs less than a tenth of a second. */
export const WORTH_KEEPING_FILES = 1_000;

/** Where those are that stay; `idle` begins with the one that became idle last. */
export function staying(
  idle: readonly Pick<IdleWorktree, 'path' | 'note'>[],
  { later, small }: Pick<PoolPlace, 'later' | 'small'>,
): ReadonlySet<string> {
  const inUse = idle.length === 0 ? [] : foldersInUse();
  const isUsed = (folder: string): boolean =>
    inUse.some((path) => `${path}/`.startsWith(`${realOf(folder)}/`));
  const worth = idle.filter(
    ({ path, note }) => (small || note.asked || note.files >= WORTH_KEEPING_FILES) && !isUsed(path),
  );
  const asked = small ? [] : worth.filter(({ note }) => note.asked);
  const others = worth.filter((one) => !asked.includes(one));
  const room = Math.max(0, later - asked.length);
  return new Set([...asked, ...others.slice(0, room)].map(({ path }) => path));
}
