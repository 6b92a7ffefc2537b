/** The branches that somebody names on the command line: which commits they are. */

import { closest } from '../base/closest.ts';
import { UserError } from '../base/errors.ts';
import { filesBetween } from '../git/diff.ts';
import { areRelated, subjectsAfter } from '../git/history.ts';
import { branchNames, isAncestor, resolveCommit } from '../git/refs.ts';
import { buildCandidate } from '../merge/candidate.ts';
import type { Plan, Sha } from '../model/plan.ts';
import type { BranchToLand } from '../plan/land-plan.ts';
import type { LandForecast } from '../report/plan-text.ts';
import type { Host } from './host.ts';

/** Where branches are looked for, and what they are to land on. */
export interface LandingPlace {
  readonly dir: string;
  readonly target: string;
  /** Where the target is. */
  readonly base: Sha;
  readonly host: Pick<Host, 'warn'>;
}

/**
 * Finds all of them, or says what is wrong with each that cannot land. One that the target holds
 * already is said to be there and left out.
 */
export async function branchesToLand(
  names: readonly string[],
  place: LandingPlace,
  signal: AbortSignal,
): Promise<readonly BranchToLand[]> {
  const branches: BranchToLand[] = [];
  const problems: string[] = [];
  for (const name of new Set(names)) {
    const found = await find(name, place, signal);
    if (typeof found === 'string') problems.push(found);
    else if (found !== null) branches.push(found);
  }
  if (problems.length === 0) return branches;
  throw new UserError(problems.join('\n'), 'Nothing was landed. `git branch -a` lists branches.');
}

/** The branch, what is wrong with it, or null where there is nothing to land. */
async function find(
  name: string,
  { dir, target, base, host }: LandingPlace,
  signal: AbortSignal,
): Promise<BranchToLand | string | null> {
  const work = await commitOf(dir, name, signal);
  if (work === null) return `There is no branch ${name}.${await meant(dir, name, signal)}`;
  if (await isAncestor(dir, work, base, signal)) {
    host.warn(`${name} has landed: ${target} holds all of it.`);
    return null;
  }
  if (!(await areRelated(dir, work, base, signal))) {
    return `${name} and ${target} have no commit in common: git cannot merge them.`;
  }
  return { name, work, subjects: await subjectsAfter(dir, { from: base, to: work }, signal) };
}

/** A local branch, or one of a remote as it was last fetched. */
async function commitOf(dir: string, name: string, signal: AbortSignal): Promise<Sha | null> {
  const short = name.replace(/^refs\/(?:heads|remotes)\//, '');
  const places = name.startsWith('refs/') ? [name] : PLACES.map((place) => `${place}${short}`);
  for (const ref of places) {
    const commit = await resolveCommit(dir, ref, signal);
    if (commit !== null) return commit;
  }
  return null;
}

const PLACES = ['refs/heads/', 'refs/remotes/'];

async function meant(dir: string, name: string, signal: AbortSignal): Promise<string> {
  const local = await branchNames(dir, 'refs/heads/', signal);
  const refs = await branchNames(dir, 'refs/remotes/', signal);
  const remote = refs.map((ref) => ref.replace(/^refs\/remotes\//, ''));
  const fetched = remote.find((branch) => branch.slice(branch.indexOf('/') + 1) === name);
  const near = fetched ?? closest(name, [...local, ...remote]);
  return near === null ? '' : ` Did you mean ${near}?`;
}

/** What would become of each branch, merged in memory in the order in which they would land. */
export async function forecast(
  plan: Plan,
  branches: readonly BranchToLand[],
  { dir, base }: { readonly dir: string; readonly base: Sha },
  signal: AbortSignal,
): Promise<readonly LandForecast[]> {
  const { strategy } = plan.landing;
  const forecasts: LandForecast[] = [];
  let onto = base;
  for (const { name, work, subjects } of branches) {
    const merge = { work, onto, message: name, strategy, isDraft: true };
    const candidate = await buildCandidate(dir, merge, signal);
    const built = candidate.kind === 'built' ? candidate.commit : null;
    const files = built === null ? [] : await filesBetween(dir, onto, built, signal);
    const conflicts = candidate.kind === 'conflict' ? candidate.files : [];
    forecasts.push({ name, commits: subjects.length, files: files.length, conflicts });
    onto = built ?? onto;
  }
  return forecasts;
}
