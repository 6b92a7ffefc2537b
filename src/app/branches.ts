/** The branches that tasks will have: whether they are free, before anything starts. */

import { OperationalError, UserError } from '../base/errors.ts';
import { git, type Sha } from '../git/git.ts';
import { isAncestor } from '../git/refs.ts';
import { taskBranch } from '../model/names.ts';
import { type Plan, type TaskId, usesCheckout } from '../model/plan.ts';

/** Refuses a plan whose work would get in the way of a branch that already exists. */
export async function requireFreeBranches(
  plan: Plan,
  { dir, run, base }: { readonly dir: string; readonly run: string; readonly base: Sha },
  signal: AbortSignal,
): Promise<void> {
  const branches = wantedBranches(plan, run);
  if ([...branches.keys()].every((branch) => branch.includes(run))) return;
  for (const there of await branchesOf(dir, signal)) {
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
      throw new UserError(
        `Tasks ${other} and ${task.id} have the same branch: ${branch}.`,
        'Give each its own.',
      );
    }
    branches.set(branch, task.id);
  }
  return branches;
}

/** A ref is a file or a folder, never both. */
function clashing(branches: ReadonlyMap<string, TaskId>, name: string): TaskId | undefined {
  for (const [branch, task] of branches) {
    if (branch.startsWith(`${name}/`) || name.startsWith(`${branch}/`)) return task;
  }
  return undefined;
}

interface Branch {
  readonly name: string;
  readonly tip: Sha;
  /** Where it is checked out; empty where it is not. */
  readonly checkout: string;
}

async function branchesOf(dir: string, signal: AbortSignal): Promise<readonly Branch[]> {
  const format = '--format=%(refname:lstrip=2)%00%(objectname)%00%(worktreepath)';
  const { stdout } = await git(dir, ['for-each-ref', format, 'refs/heads'], signal);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [name = '', tip = '', checkout = ''] = line.split('\0');
    return { name, tip, checkout };
  });
}
