/** What is known of a workspace at the moment at which it comes out of the pool. */

import { type Moment, momentOf } from '../base/moment.ts';
import { type FolderTimes, folderTimesIn } from '../git/folder-times.ts';

export interface Given {
  /** When it was wiped. */
  readonly wiped: Moment;
  /** Its folders as it was handed over; null where it may hold more than its commit. */
  readonly times: FolderTimes | null;
}

/** Tells it; the workspace was just moved to its folder. */
export function givenOf(dir: string, wipedAt: number, isBare: boolean): Given {
  return { wiped: momentOf(wipedAt), times: isBare ? folderTimesIn(dir) : null };
}
