/** Flags change the plan before it runs; what they say wins over what the file says. Pure. */

import { UserError } from '../base/errors.ts';
import type { LandingSpec, LimitChanges, Plan, TaskSpec } from '../model/plan.ts';
import { isGitBranchName } from './names.ts';

export interface PlanChanges {
  readonly limits?: LimitChanges;
  readonly tasks?: readonly string[];
  readonly agent?: string;
  readonly target?: string;
  readonly autoApprove?: boolean;
  readonly onConflict?: LandingSpec['onConflict'];
}

/** The plan as the flags want it. `isCoding` tells coding agents from plain commands. */
export function adjust(plan: Plan, flags: PlanChanges, isCoding: (agent: string) => boolean): Plan {
  const { agent, target } = flags;
  if (target !== undefined && !isGitBranchName(target)) {
    throw new UserError(`${target} is not a branch name.`);
  }
  const chosen = flags.tasks === undefined ? plan.tasks : select(plan, flags.tasks);
  const changes = {
    ...(agent === undefined ? {} : { agent }),
    ...(flags.autoApprove === true ? { permissions: 'bypassPermissions' as const } : {}),
  };
  const tasks = chosen.map((task) => (isCoding(task.agent) ? { ...task, ...changes } : task));
  const limits = { ...plan.limits, ...flags.limits };
  const landing = conflictsTo(flags.onConflict, plan.landing);
  return { ...plan, tasks, limits, landing, ...(target === undefined ? {} : { target }) };
}

const REWORKS = 2;

/** An agent that is to resolve conflicts needs a try to do so. */
function conflictsTo(who: PlanChanges['onConflict'], landing: LandingSpec): LandingSpec {
  if (who === undefined) return landing;
  const reworks = who === 'agent' && landing.reworks === 0 ? REWORKS : landing.reworks;
  return { ...landing, onConflict: who, reworks };
}

/** Only the tasks named. What they need beyond that is taken to be there already. */
function select({ tasks, conventions }: Plan, ids: readonly string[]): readonly TaskSpec[] {
  const known = new Set(tasks.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  const isWrong = unknown.length > 0 || ids.length === 0;
  if (isWrong && conventions.noTasks === 'error') {
    throw new UserError(
      `--tasks names no task of this plan: ${unknown.join(', ') || '(nothing)'}.`,
      `Its tasks are ${[...known].join(', ')}.`,
    );
  }
  const wanted = new Set(ids);
  return tasks
    .filter(({ id }) => wanted.has(id))
    .map((task) => ({
      ...task,
      needs: task.needs.filter((need) => wanted.has(need)),
      hears: task.hears.filter((heard) => wanted.has(heard)),
    }));
}
