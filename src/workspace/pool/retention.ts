/**
 * retention: which idle worktrees stay for a later run. At most `later`, most recently used first; none
 * where a new one is cheap, unless the user has set a number. Those made by `pool warm` stay regardless,
 * unless the user has set a lower number. One that a process works in does not stay: a program that its
 * task left behind would write into the next task's files. It is not killed: it may be the user's shell.
 */

import { realOf } from '../../git/git-dir.ts';
import { foldersInUse } from '../../process/process-list.ts';
import type { IdleWorktree } from './idle-worktrees.ts';
import type { PoolPlace } from './pool.ts';

/** Below this a new workspace takes less than a tenth of a second. */
export const WORTH_KEEPING_FILES = 1_000;

/** The paths of those that stay; `idle` is sorted, most recent first. */
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
