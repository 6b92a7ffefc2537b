/**
 * A new run of a plan: where it starts, what it publishes to, and what would keep it from landing. What
 * would stop it only after hours of work is said before it starts.
 */

import { OperationalError, UserError } from '../base/errors.ts';
import { branchesIn } from '../git/branches.ts';
import { identityProblem, signingProblem } from '../git/commit.ts';
import { isAncestor, readRef } from '../git/refs.ts';
import { statusOf } from '../git/status.ts';
import { openDatabase } from '../journal/database.ts';
import { isClaimed } from '../journal/lease.ts';
import { taskBranch } from '../model/names.ts';
import { type Plan, type Sha, type TaskId, usesCheckout } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { projectGate } from '../plan/config/discover.ts';
import { nameList } from '../report/format.ts';
import { brief } from '../report/sanitize.ts';
import { rootFiles } from './config-files.ts';
import { checkExecution, type Execution, type RunOptions } from './execute.ts';
import type { LoadedPlan } from './load-plan.ts';
import { newRunId } from './names.ts';
import type { Place } from './place.ts';
import { withoutSecrets } from './secrets.ts';
import { branchBehind, remoteBase, targetIn, withKnownRemote } from './target.ts';

/** The plan of a new run, and the hash of the file it came from. */
export type NewPlan = Pick<LoadedPlan, 'plan' | 'hash'>;

export async function newRun(
  { plan: given, hash }: NewPlan,
  place: Place,
  options: RunOptions,
  signal: AbortSignal,
): Promise<Execution> {
  checkExecution(given, options, place);
  const plan = await withKnownRemote(given, place, signal);
  const from = await startingPoint(plan, place, signal);
  await requireNoEdits(plan, place, from.target, signal);
  const db = openDatabase(place.stateDir);
  try {
    const run = newRunId(new Date(), (each) => isClaimed(db, each));
    if (place.repository !== null && from.base !== null) {
      await requireFreeBranches(plan, { dir: place.dir, run, base: from.base }, signal);
    }
    tellUngated(plan, place);
    const told = { plan: withoutSecrets(plan), planHash: hash };
    const started = { type: 'run.started', ...told, ...from } as const;
    return { place, db, run, plan, started, before: null, options };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The commit a run starts from and the branch it will publish to. */
async function startingPoint(
  plan: Plan,
  { repository, host }: Place,
  signal: AbortSignal,
): Promise<{ readonly base: Sha | null; readonly target: string | null }> {
  if (repository === null || plan.tasks.every(usesCheckout)) return { base: null, target: null };
  const { commonDir } = repository;
  const writes = plan.tasks.some(({ mode }) => mode === 'write');
  const problem =
    (await identityProblem(commonDir, signal)) ??
    (writes ? await signingProblem(commonDir, signal) : null); // Nothing would land unsigned.
  if (problem !== null) throw new OperationalError(problem.message, { remedy: problem.remedy });
  if ((await readRef(commonDir, 'refs/heads/landfast', signal)) !== null) {
    const message = 'A branch named landfast exists, so git cannot create landfast/… branches.';
    const remedy = 'Rename it: git branch -m landfast landfast-old';
    throw new OperationalError(message, { remedy });
  }
  if (plan.base !== undefined) {
    const base = await remoteBase(repository, plan.base, host, signal);
    const target = await branchBehind(repository, plan.target ?? plan.base, signal);
    return { base, target };
  }
  return targetIn(repository, plan.target, signal);
}

/** Refuses a plan whose work would get in the way of a branch that already exists. */
async function requireFreeBranches(
  plan: Plan,
  { dir, run, base }: { readonly dir: string; readonly run: string; readonly base: Sha },
  signal: AbortSignal,
): Promise<void> {
  const branches = wantedBranches(plan, run);
  if ([...branches.keys()].every((branch) => branch.includes(run))) return;
  for (const there of await branchesIn(dir, signal)) {
    const task = branches.get(there.name);
    const wanted = task ?? clashing(branches, there.name);
    if (wanted === undefined) continue;
    if (task === undefined) {
      throw new OperationalError(
        `Task ${wanted} cannot have its branch beside ${there.name}: one name contains the other.`,
        { remedy: `Rename one of them: git branch -m ${there.name} ${there.name}-old` },
      );
    }
    if (there.checkout !== '') {
      throw new OperationalError(
        `The branch ${there.name} of task ${task} is checked out in ${there.checkout}.`,
        { remedy: 'Switch to another branch there, or give the task another branch.' },
      );
    }
    if (await isAncestor(dir, there.tip, base, signal)) continue;
    throw new OperationalError(
      `The branch ${there.name} of task ${task} exists and holds commits of its own.`,
      { remedy: `Merge them, or rename it: git branch -m ${there.name} ${there.name}-old` },
    );
  }
}

/** Every task's branch, by name; two tasks cannot share one. */
function wantedBranches(plan: Plan, run: string): ReadonlyMap<string, TaskId> {
  const branches = new Map<string, TaskId>();
  for (const task of plan.tasks) {
    if (usesCheckout(task)) continue;
    const branch = taskBranch(plan.conventions, run, task);
    const other = branches.get(branch);
    if (other !== undefined) {
      const message = `Tasks ${other} and ${task.id} have the same branch: ${branch}.`;
      throw new UserError(message, 'Give each its own.');
    }
    branches.set(branch, task.id);
  }
  return branches;
}

/** A ref is a file or a folder, never both. */
function clashing(branches: ReadonlyMap<string, TaskId>, name: string): TaskId | undefined {
  const isClash = (branch: string) =>
    branch.startsWith(`${name}/`) || name.startsWith(`${branch}/`);
  return [...branches].find(([branch]) => isClash(branch))?.[1];
}

/** Throws where changes in the checkout of the target branch keep a plan from running. */
async function requireNoEdits(
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

/** Says that work will land untested, unless nothing lands or the plan turns verification off. */
function tellUngated(plan: Plan, { dir, host }: Place): void {
  const { gates, landing, tasks } = plan;
  const isMeant = landing.verify === 'off' || landing.strategy === 'none';
  if (gates.length > 0 || isMeant) return;
  if (!tasks.some(({ mode }) => mode === 'write')) return;
  const run = projectGate(rootFiles(dir))?.run ?? 'npm test';
  host.warn(
    `There is no gate: nothing is tested before it lands.
  To add one to landfast.yaml: gates: [{ name: tests, run: ${run} }]`,
  );
}
