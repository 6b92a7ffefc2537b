/**
 * The branch that a run publishes to, and the commit it starts from.
 *
 *   T1. A symbolic ref (`master` for `main`) is resolved here, once: from then on the run knows only
 *       the branch behind it, which is also what git says is checked out.
 */

import { OperationalError, UserError } from '../base/errors.ts';
import { git, type Sha } from '../git/git.ts';
import { readRef } from '../git/refs.ts';
import { headBranch, type Repository } from '../git/repository.ts';

export interface Target {
  readonly base: Sha;
  /** A branch, without `refs/heads/`. */
  readonly target: string;
}

const BRANCHES = 'refs/heads/';

/** The branch that the user names, or else the one that is checked out. */
export async function targetIn(
  repository: Repository,
  named: string | undefined,
  signal: AbortSignal,
): Promise<Target> {
  return named === undefined
    ? currentBranch(repository, signal)
    : namedBranch(repository, named, signal);
}

/** The branch that a symbolic ref leads to; any other name stands for itself. */
export async function branchBehind(
  { commonDir }: Repository,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const args = ['symbolic-ref', '--quiet', `${BRANCHES}${name}`];
  const { code, stdout } = await git(commonDir, args, signal, { okCodes: [0, 1, 128] });
  if (code !== 0) return name;
  const ref = stdout.trim();
  if (ref.startsWith(BRANCHES)) return ref.slice(BRANCHES.length);
  throw new UserError(
    `${name} is a symbolic ref to ${ref}, which is not a branch.`,
    'Name a branch with --target.',
  );
}

/** What HEAD leads to: git follows it through symbolic refs to the end. */
async function currentBranch({ dir }: Repository, signal: AbortSignal): Promise<Target> {
  const head = await headBranch(dir, signal);
  switch (head.kind) {
    case 'branch':
      return { base: head.commit, target: head.name };
    case 'detached':
      throw new OperationalError('HEAD is detached: there is no current branch to publish to.', {
        remedy: 'Check out a branch (git switch main), or name one with --target.',
      });
    case 'unborn':
      throw new OperationalError('The repository has no commits yet.', {
        remedy: 'Create the first one: git add -A && git commit -m "First commit".',
      });
  }
}

async function namedBranch(
  repository: Repository,
  name: string,
  signal: AbortSignal,
): Promise<Target> {
  const target = await branchBehind(repository, name, signal);
  const base = await readRef(repository.commonDir, `${BRANCHES}${target}`, signal);
  if (base !== null) return { base, target };
  throw new UserError(`There is no branch ${target}.`, `Create it first: git branch ${target}.`);
}
