/** Finished branches as a plan that lands them: which commits they are, and what would become of them. */

import { createHash } from 'node:crypto';
import { closest } from '../base/closest.ts';
import { UserError } from '../base/errors.ts';
import { filesBetween } from '../git/diff.ts';
import { areRelated, subjectsAfter } from '../git/history.ts';
import { branchNames, isAncestor, resolveCommit } from '../git/refs.ts';
import { buildCandidate } from '../merge/candidate.ts';
import type { GateSpec, LimitChanges, Plan, Sha } from '../model/plan.ts';
import type { Config } from '../plan/config/schema.ts';
import { type BranchToLand, gateOf, landPlan } from '../plan/land-plan.ts';
import type { LandForecast } from '../report/plan-text.ts';
import { agentNamed } from './agents.ts';
import { findConfig } from './config-files.ts';
import { loadPlan } from './load-plan.ts';
import { type Host, type Place, requireRepository } from './place.ts';
import type { NewPlan } from './start-run.ts';
import { targetIn } from './target.ts';

export interface LandWish {
  readonly branches: readonly string[];
  /** Default: that of the plan `like`, of the configuration, or the current branch. */
  readonly target?: string | undefined;
  readonly gates: readonly GateSpec[];
  readonly verify?: Plan['landing']['verify'] | undefined;
  readonly strategy?: 'merge' | 'squash' | 'rebase' | undefined;
  /** Resolves conflicts; null for none. */
  readonly agent: string | 'configured' | null;
  /** The file of a plan whose gates, set-up and limits are used. */
  readonly like?: string | undefined;
  readonly limits?: LimitChanges;
}

export interface LandingPlan extends NewPlan {
  readonly branches: readonly BranchToLand[];
  readonly base: Sha;
}

/** The plan that lands branches; without a plan where the target holds all of them already. */
export async function planLanding(
  wish: LandWish,
  place: Place,
  signal: AbortSignal,
): Promise<LandingPlan | { readonly plan: null; readonly target: string }> {
  const { dir, host } = place;
  const repository = requireRepository(place);
  const config = await findConfig(place, signal);
  const from = { root: dir, host, format: null, config };
  const like = wish.like === undefined ? null : (loadPlan(wish.like, from)?.plan ?? null);
  const named = wish.target ?? like?.target ?? config.target;
  const { base, target } = await targetIn(repository, named, signal);
  const branches = await branchesToLand(wish.branches, { dir, target, base, host }, signal);
  if (branches.length === 0) return { plan: null, target };
  const { gates, verify, strategy } = wish;
  const agent = resolverOf(wish, config, host);
  const landing = { branches, target, gates, verify, strategy, agent, like, config };
  const plan = landPlan({ ...landing, home: host.home });
  const hash = createHash('sha256').update(JSON.stringify(branches)).digest('hex');
  return { plan: { ...plan, limits: { ...plan.limits, ...wish.limits } }, hash, branches, base };
}

function resolverOf({ agent }: LandWish, { defaults }: Config, host: Host): string | null {
  const name = agent === 'configured' ? (defaults?.agent ?? 'claude') : agent;
  if (name === null || agentNamed(name, host).can.prose) return name;
  throw new UserError(`${name} cannot resolve conflicts.`, 'Name a coding agent with --agent.');
}

/** A gate as `name=command`. */
export function gateNamed(text: string): GateSpec {
  const gate = gateOf(text);
  if (gate !== null) return gate;
  throw new UserError(`--gate ${text} has no name.`, "Write name=command: --gate tests='npm test'");
}

/** For gates that do not say it themselves. */
export const GATE_LIMIT_MS = 600_000;

/** `npm test` is a gate of that name; `tests=npm test` is one called tests. */
export function gateFrom(text: string): GateSpec {
  return gateOf(text) ?? { name: text, run: text, timeoutMs: GATE_LIMIT_MS };
}

interface LandingPlace {
  readonly dir: string;
  readonly target: string;
  /** Where the target is. */
  readonly base: Sha;
  readonly host: Pick<Host, 'warn'>;
}

/** Finds all of them, or says what is wrong with each. Those that have landed are left out. */
async function branchesToLand(
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
  { plan, branches, base }: LandingPlan,
  { dir }: Place,
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
