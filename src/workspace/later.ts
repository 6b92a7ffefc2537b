/**
 * later: which of the workspaces that wait stay for a later run.
 *
 *   K1. As many as the place says, those that became idle last; where making a new one costs next
 *       to nothing, none, unless the user has said how many.
 *   K2. Those that somebody has asked for stay, however many they are, unless the user has said
 *       that fewer are to stay.
 */

import type { Idle } from './idle.ts';
import type { PoolPlace } from './pool-place.ts';

/** Below so many files a new workspace costs less than a tenth of a second. */
export const WORTH_KEEPING_FILES = 1_000;

/** The slots that stay; `idle` begins with the one that became idle last. */
export function staying(
  idle: readonly { readonly slot: number; readonly note: Idle | null }[],
  { later, small }: PoolPlace,
): ReadonlySet<number> {
  const worth = idle.filter(
    ({ note }) => note !== null && (small || note.asked || note.files >= WORTH_KEEPING_FILES),
  );
  const asked = small ? [] : worth.filter(({ note }) => note?.asked === true);
  const others = worth.filter((one) => !asked.includes(one));
  const room = Math.max(0, later - asked.length);
  return new Set([...asked, ...others.slice(0, room)].map(({ slot }) => slot));
}
