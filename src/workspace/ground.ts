/**
 * The ground a run stands on: which repository, which run, and where its workspaces are.
 *
 *   W1. Unless the user names another folder, workspaces are siblings of the repository: never
 *       inside `.git`, where agents refuse to edit, nor inside a checkout, where tools would find
 *       every file twice.
 *   W2. A path is computed from ids that the plan has checked; no id reaches a path unchecked.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { assert } from '../base/assert.ts';
import type { Suspension } from '../base/suspension.ts';
import type { Repository } from '../git/repository.ts';
import { ownerOf } from '../git/worktree.ts';
import { runBranch, taskBranch, workspaceName } from '../model/names.ts';
import type { Plan, TaskId, TaskSpec } from '../model/plan.ts';
import { isWaiting } from './idle.ts';
import type { Pool } from './pool.ts';
import type { Seeds } from './seeds.ts';

export interface Ground {
  readonly repository: Repository;
  readonly run: string;
  readonly plan: Plan;
  /** The environment of set-up commands, checks and gates. */
  readonly env: Readonly<Record<string, string>>;
  readonly pool: Pool;
  /** Absent where the plan keeps no results of set-up. */
  readonly seeds?: Seeds;
  /** Halts what runs for an attempt; gates are not concerned. */
  readonly suspension: Suspension;
  readonly verdicts: VerdictMemory;
  readonly resolutions: ResolutionMemory;
  /**
   * Throws where another engine has got the run. Asked right before what would get in its way: a
   * ref that moves, a commit in a workspace, a workspace that goes.
   */
  readonly assertHeld: () => void;
}

/** What gates said before (journal/verdicts.ts, as far as landing needs it). */
export interface VerdictMemory {
  recall(key: string): string | null;
  learn(
    green: {
      readonly key: string;
      readonly gate: string;
      readonly tree: string;
      readonly ms: number;
      readonly run: string;
    },
    at: number,
  ): void;
  cost(gate: string): number | null;
}

/** How conflicts were resolved before (journal/resolutions.ts, as far as landing needs it). */
export interface ResolutionMemory {
  recall(key: string): KnownResolution | null;
  learn(key: string, resolution: KnownResolution, at: number): void;
}

/** What a file became, and in which run; without an object it was deleted. */
export interface KnownResolution {
  readonly mode: string;
  readonly object: string | null;
  readonly run: string;
}

/** What says where workspaces are. */
interface Folders {
  readonly repository: Repository;
  readonly plan: Pick<Plan, 'workspace'>;
}

/** The folder that the workspaces of all runs are in. */
export function workspacesFolder({ repository, plan }: Folders): string {
  const { dir } = plan.workspace;
  return dir === undefined ? repository.worktreesDir : resolve(repository.dir, dir);
}

/** The folder of what a run needs besides its tasks' workspaces. */
export function runFolder(ground: Ground): string {
  return join(workspacesFolder(ground), ground.run);
}

/**
 * The folder of the workspaces that wait for a task. A folder that the user has named may be shared
 * with another repository.
 */
export function poolFolder(of: Folders): string {
  const { commonDir, worktreesDir } = of.repository;
  const folder = workspacesFolder(of);
  return join(folder, folder === worktreesDir ? POOL : sharedPool(commonDir));
}

/** All that are there. */
export function poolDirs(of: Folders): readonly string[] {
  const folder = poolFolder(of);
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

const POOL = '.pool';

function sharedPool(commonDir: string): string {
  return `${POOL}-${createHash('sha256').update(commonDir).digest('hex').slice(0, 8)}`;
}

/** The folder of a task's workspace. */
export function workspaceDir(ground: Ground, task: TaskId): string {
  const { plan, run } = ground;
  const name = workspaceName(plan.conventions, run, specOf(ground, task));
  return join(workspacesFolder(ground), name);
}

/**
 * Whether what is in a task's folder, if anything, is this task's. The folder of a run is nobody
 * else's; any other may be the user's, or of another run that names its folders alike.
 */
export async function isOwn(ground: Ground, task: TaskId): Promise<boolean> {
  const dir = workspaceDir(ground, task);
  if (dir.startsWith(join(runFolder(ground), sep))) return true;
  if (isWaiting(dir)) return true; // Nobody's: whoever comes next takes it.
  return ownerOf(dir) === ownerName(ground, task) || (await isEmpty(dir));
}

/** How a task is named as the owner of its workspace. */
export function ownerName({ run }: Ground, task: TaskId): string {
  return `${run}/${task}`;
}

/** Nothing is there, or an empty folder. */
async function isEmpty(dir: string): Promise<boolean> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => error.code);
  return names === 'ENOENT' || (Array.isArray(names) && names.length === 0);
}

/** A folder for verifying candidates; task ids never start with a dot. */
export function gateDir(ground: Ground, slot: number): string {
  return join(runFolder(ground), `.gate-${slot}`);
}

/** All that are there: one that ends slowly makes room for another before it is gone. */
export function gateDirs(ground: Ground): readonly string[] {
  const folder = runFolder(ground);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => /^\.gate-\d+$/.test(name)).map((name) => join(folder, name));
}

/** The full ref of the run's branch. */
export function runRef({ run }: Ground): string {
  return `refs/heads/${runBranch(run)}`;
}

/** The branch of a task's workspace, without `refs/heads/`. */
export function branchOf(ground: Ground, task: TaskId): string {
  return taskBranch(ground.plan.conventions, ground.run, specOf(ground, task));
}

/** The tasks of a plan by their ids: each is asked for a dozen times. */
const specs = new WeakMap<Plan, ReadonlyMap<TaskId, TaskSpec>>();

/** A task of the plan. */
export function specOf({ plan }: Ground, task: TaskId): TaskSpec {
  const byId = specs.get(plan) ?? new Map(plan.tasks.map((each) => [each.id, each]));
  specs.set(plan, byId);
  const spec = byId.get(task);
  assert(spec !== undefined, `the plan has a task ${task}`);
  return spec;
}
