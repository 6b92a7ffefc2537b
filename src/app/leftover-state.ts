/**
 * The state that the tool of a format left beside a plan: the tasks it had completed. Whether their
 * branches are merged it does not say, so no task is skipped for it: the user is told what it holds,
 * and everything runs.
 */

import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { formatNamed } from '../plan/formats/index.ts';
import { nameList } from '../report/format.ts';
import { brief } from '../report/sanitize.ts';

const MOST_BYTES = 1024 * 1024;
const SHOWN = 10;

/** A sentence about the state that lies beside a plan; null where there is none. */
export function leftoverState(format: string, plan: string): string | null {
  const leftover = formatNamed(format)?.leftover;
  if (leftover === undefined) return null;
  const name = leftover.fileFor(basename(plan, extname(plan)));
  const file = join(dirname(plan), name);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return null;
  const done = size > MOST_BYTES ? null : leftover.completedIn(readFileSync(file, 'utf8'));
  const what =
    done === null
      ? 'it cannot be read'
      : `its completed tasks (${brief(nameList(done, SHOWN), 300) || 'none'}) run again`;
  return `landfast: ${name} of ${leftover.tool} is not used: ${what}.`;
}
