/**
 * The branch that a run publishes to, the commit it starts from, and the remote they may be of. A
 * symbolic ref (`master` for `main`) is resolved here, once: the run knows only the branch behind
 * it.
 */

import { OperationalError, UserError } from '../base/errors.ts';
import { refBehind } from '../git/branches.ts';
import { readRef, resolveCommit } from '../git/refs.ts';
import { fetchBranch, remoteAddress } from '../git/remote.ts';
import { headBranch, type Repository } from '../git/repository.ts';
import type { Plan, Sha } from '../model/plan.ts';
import type { Host, Place } from './place.ts';

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
  const ref = await refBehind(commonDir, `${BRANCHES}${name}`, signal);
  if (ref === null) return name;
  if (ref.startsWith(BRANCHES)) return ref.slice(BRANCHES.length);
  const message = `${name} is a symbolic ref to ${ref}, which is not a branch.`;
  throw new UserError(message, 'Name a branch with --target.');
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

const ORIGIN = 'origin';

/** The newest commit of the branch that a plan starts from: of `origin` where there is one. */
export async function remoteBase(
  { dir, commonDir }: Repository,
  branch: string,
  host: Host,
  signal: AbortSignal,
): Promise<Sha> {
  if ((await remoteAddress(commonDir, ORIGIN, signal)) === null) {
    const local = await resolveCommit(dir, `refs/heads/${branch}`, signal);
    if (local !== null) return local;
    throw new UserError(`There is no branch ${branch}.`, `Create it first: git branch ${branch}.`);
  }
  const fetched = await fetchBranch(dir, { remote: ORIGIN, branch }, signal);
  const tip = await resolveCommit(dir, `refs/remotes/${ORIGIN}/${branch}`, signal);
  if (tip === null) {
    const why = fetched.kind === 'failed' ? ` ${fetched.why}` : '';
    throw new OperationalError(`${ORIGIN} has no branch ${branch}.${why}`, {
      remedy: `Push it (git push ${ORIGIN} ${branch}), or name another base_branch.`,
    });
  }
  if (fetched.kind === 'failed') {
    host.warn(`${branch} is used as it was last fetched: ${fetched.why}`);
  }
  return tip;
}

/** The plan without a push if its remote is missing, with a warning. */
export async function withKnownRemote(
  plan: Plan,
  { repository, host }: Place,
  signal: AbortSignal,
): Promise<Plan> {
  const { push, ...landing } = plan.landing;
  if (push === undefined || repository === null) return plan;
  if ((await remoteAddress(repository.commonDir, push, signal)) !== null) return plan;
  host.warn(`There is no remote ${push}: finished branches are not pushed.`);
  return { ...plan, landing };
}
