/**
 * Plans whose work starts from a branch of a remote, and goes back there: which commit that is, and
 * whether there is a remote at all.
 */

import { OperationalError, UserError } from '../base/errors.ts';
import { resolveCommit } from '../git/refs.ts';
import { fetchBranch, remoteAddress } from '../git/remote.ts';
import type { Repository } from '../git/repository.ts';
import type { Plan, Sha } from '../model/plan.ts';
import type { Host } from './host.ts';
import type { Place } from './place.ts';

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

/** The plan without a push where its remote is not there; a person is told. */
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
