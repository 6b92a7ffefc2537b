/** Flags that change how a plan is read, or what was read; they win over the file. Pure. */

import { UserError } from '../base/errors.ts';
import type { LandingSpec, LimitChanges, Plan, TaskSpec } from '../model/plan.ts';
import type { PlanFormat, ReadOptions } from '../plan/formats/format.ts';
import { FORMATS } from '../plan/formats/index.ts';
import { isGitBranchName } from './names.ts';

/** The file that one of the formats is usually in. */
export const USUAL_PLAN = FORMATS.flatMap(({ usualFile }) => usualFile ?? [])[0]!;

export interface ReadFlags {
  /** False for `--no-barriers`. */
  readonly barriers?: boolean;
  readonly target?: string;
  /** False for `--no-pr`. */
  readonly pr?: boolean;
  readonly autoApprove?: boolean;
  /** Cut a list of batches in two streams after so many, or in the middle. */
  readonly split?: number;
  readonly streams?: number;
  /** A todo list in the place of a plan. */
  readonly fromTodo?: string;
}

export function readOptionsOf(flags: ReadFlags): ReadOptions {
  const { barriers, target, split, streams, pr, autoApprove } = flags;
  const isSplit = split !== undefined || streams !== undefined;
  return {
    ...(barriers === false ? { barriers } : {}),
    ...(target === undefined ? {} : { target }),
    ...(pr === false ? { pr } : {}),
    ...(autoApprove === true ? { autoApprove } : {}),
    ...(isSplit ? { split: split ?? null } : {}),
  };
}

/** The format that the flags name or imply; null where the text decides. */
export function formatOf(flags: ReadFlags & { readonly format?: string }): string | null {
  const { split, streams, format, fromTodo } = flags;
  const splitFlag = split !== undefined ? '--split' : streams !== undefined ? '--streams' : null;
  if (fromTodo !== undefined) {
    const list = nameOf(({ isTodoList }) => isTodoList === true);
    const flag = format !== undefined && format !== list ? '--format' : splitFlag;
    if (flag === null) return list;
    throw new UserError(`--from-todo reads a todo list, so ${flag} has no effect.`);
  }
  if (splitFlag === null) return format ?? null;
  const batches = nameOf(({ hasBatches }) => hasBatches === true);
  if (format === undefined || format === batches) return batches;
  throw new UserError(`${splitFlag} is for plans of the format ${batches}, not ${format}.`);
}

function nameOf(isMeant: (format: PlanFormat) => boolean): string {
  return FORMATS.find(isMeant)!.name;
}

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
