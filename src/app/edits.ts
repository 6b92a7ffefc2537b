/**
 * What the user has not committed, where a plan's users expect a run to mind it before it starts:
 * hours of work would land and then wait for a person.
 */

import { OperationalError } from '../base/errors.ts';
import { statusOf } from '../git/status.ts';
import type { Plan } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { nameList } from '../report/format.ts';
import { brief } from '../report/sanitize.ts';
import type { Place } from './place.ts';

/** Throws where changes in the checkout of the target branch keep a plan from running. */
export async function requireNoEdits(
  plan: Plan,
  { repository }: Place,
  target: string | null,
  signal: AbortSignal,
): Promise<void> {
  const { edits } = plan.conventions;
  if (edits === undefined || repository === null) return;
  const untracked = edits === 'apart' ? 'all' : 'no';
  const status = await statusOf(repository.dir, { untracked }, signal);
  if (status.branch !== target) return; // Publishing leaves this checkout alone.
  const files = [...status.changed, ...status.untracked].filter((file) => !isOwn(plan, file));
  const writers = plan.tasks.filter(({ mode }) => mode === 'write');
  const met =
    edits === 'none'
      ? files
      : files.filter((file) => writers.some(({ writes }) => inScope(file, writes)));
  if (met.length === 0) return;
  const which = edits === 'none' ? '' : ', which tasks will write';
  throw new OperationalError(
    `Uncommitted changes are in the way: ${brief(nameList(met, 5), 300)}${which}.`,
    { remedy: 'Commit them, or stash them: git stash --include-untracked' },
  );
}

/** Logs and reports of earlier runs are no changes of the user's. */
function isOwn({ conventions }: Plan, file: string): boolean {
  const { logs, reports } = conventions;
  const own = [...(logs === undefined ? [] : [logs.dir]), ...reports.map(({ path }) => path)];
  return inScope(file, own);
}
