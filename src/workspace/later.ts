/**
 * later: which of the workspaces that wait stay for a later run.
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
import type { Idle } from './idle.ts';
import type { PoolPlace } from './pool-place.ts';

/** Below so many files a new workspace costs less than a tenth of a second. */
export const WORTH_KEEPING_FILES = 1_000;

/** The slots that stay; `idle` begins with the one that became idle last. */
export function staying(
  idle: readonly { readonly slot: number; readonly note: Idle | null }[],
  { folder, later, small }: PoolPlace,
): ReadonlySet<number> {
  const inUse = idle.length === 0 ? [] : foldersInUse();
  const place = realOf(folder);
  const isUsed = (slot: number): boolean =>
    inUse.some((path) => `${path}/`.startsWith(`${place}/${slot}/`));
  const worth = idle.filter(
    ({ slot, note }) =>
      note !== null && (small || note.asked || note.files >= WORTH_KEEPING_FILES) && !isUsed(slot),
  );
  const asked = small ? [] : worth.filter(({ note }) => note?.asked === true);
  const others = worth.filter((one) => !asked.includes(one));
  const room = Math.max(0, later - asked.length);
  return new Set([...asked, ...others.slice(0, room)].map(({ slot }) => slot));
}
