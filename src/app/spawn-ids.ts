/** Which ids spawned tasks may not have. */

import { branchNames } from '../git/refs.ts';
import { openForReading } from '../journal/database.ts';
import { listRuns } from '../journal/journal.ts';
import type { TaskId } from '../model/plan.ts';
import type { Config } from '../plan/config/schema.ts';
import { conventionsFor } from '../plan/spawn-plan.ts';
import type { Place } from './place.ts';
import { readState } from './watch-run.ts';

/** Without the run in their names, branches and folders of earlier runs would be met again. */
export async function takenIds(
  { repository, stateDir }: Place,
  config: Config,
  signal: AbortSignal,
): Promise<ReadonlySet<TaskId>> {
  const { branch_prefix: prefix } = config;
  if (prefix === undefined || repository === null) return new Set();
  const branches = await branchNames(repository.commonDir, `refs/heads/${prefix}/`, signal);
  const { branch } = conventionsFor(prefix);
  using db = openForReading(stateDir);
  const open = db === null ? [] : listRuns(db).filter(({ outcome }) => outcome === null);
  const waiting = open.flatMap(({ run }) => {
    const { plan } = readState(db!, run);
    return plan.conventions.branch === branch ? plan.tasks.map(({ id }) => id) : [];
  });
  return new Set([...branches.map((name) => name.slice(prefix.length + 1)), ...waiting]);
}
