/**
 * The ground a run stands on: which repository, which run, and where its workspaces are.
 *
 *   W1. Workspaces are siblings of the repository: never inside `.git`, where agents refuse to edit,
 *       nor inside a checkout, where tools would find every file twice.
 *   W2. A path is computed from ids that the plan has checked; no id reaches a path unchecked.
 */

import { join } from 'node:path';
import type { Repository } from '../git/repository.ts';
import { runBranch, taskBranch } from '../model/names.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import type { Pool } from './pool.ts';

export interface Ground {
  readonly repository: Repository;
  readonly run: string;
  readonly plan: Plan;
  /** The environment of set-up commands, checks and gates. */
  readonly env: Readonly<Record<string, string>>;
  readonly pool: Pool;
}

/** The folder that holds all workspaces of a run. */
export function runFolder({ repository, run }: Ground): string {
  return join(repository.worktreesDir, run);
}

/** The folder of a task's workspace. */
export function workspaceDir(ground: Ground, task: TaskId): string {
  return join(runFolder(ground), task);
}

/** A folder for verifying candidates; task ids never start with a dot. */
export function gateDir(ground: Ground, slot: number): string {
  return join(runFolder(ground), `.gate-${slot}`);
}

/** The full ref of the run's branch. */
export function runRef({ run }: Ground): string {
  return `refs/heads/${runBranch(run)}`;
}

/** The branch of a task's workspace, without `refs/heads/`. */
export function branchOf({ plan, run }: Ground, task: TaskId): string {
  return taskBranch(plan.conventions, run, task);
}
