/** What is known of a workspace at the moment at which it comes out of the pool. */

import { type Moment, momentOf } from '../base/moment.ts';
import { type FolderTimes, folderTimesIn } from '../git/folder-times.ts';
import type { Claim } from './pool-place.ts';

export interface Given {
  /** When it was wiped. */
  readonly wiped: Moment;
  /** Its folders as it was handed over; null where it may hold more than its commit. */
  readonly times: FolderTimes | null;
}

/**
 * Tells it; the workspace was just moved to its folder. In one that an earlier engine has left
 * anybody may have put something: then a folder was changed since.
 */
export function givenOf(dir: string, { untouched, wipedAt, bare, changed }: Claim): Given {
  const times = bare ? folderTimesIn(dir) : null;
  const isBare = times !== null && (untouched || times.last === changed);
  return { wiped: momentOf(wipedAt), times: isBare ? times : null };
}
