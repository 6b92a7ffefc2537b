/**
 * What parallel-orchestra left beside a manifest: `.po-run-state-<stem>.json`, the tasks that it had
 * completed. Their branches may be merged or not, which it does not say, so it is never a reason to
 * skip a task: the user is told what it holds, and everything runs.
 */

import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { brief } from '../report/clean.ts';
import { nameList } from '../report/format.ts';

const MOST_BYTES = 1024 * 1024;
const SHOWN = 10;

/** A sentence about the state that lies beside a manifest; null where there is none. */
export function leftState(manifest: string): string | null {
  const name = `.po-run-state-${basename(manifest, extname(manifest))}.json`;
  const file = join(dirname(manifest), name);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return null;
  const done = size > MOST_BYTES ? null : completedIn(file);
  const what =
    done === null
      ? 'it cannot be read'
      : `its completed tasks (${brief(nameList(done, SHOWN), 300) || 'none'}) run again`;
  return `landfast: ${name} of parallel-orchestra is not used: ${what}.`;
}

function completedIn(file: string): readonly string[] | null {
  try {
    const state: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof state !== 'object' || state === null || !('manifest_hash' in state)) return null;
    const done = 'completed_tasks' in state ? state.completed_tasks : null;
    return Array.isArray(done) ? done.map(String) : null;
  } catch {
    return null;
  }
}
