/** `landfast land`: branches made by anybody go through the landing queue. */

import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { OperationalError, UserError } from '../../base/errors.ts';
import { filesBetween } from '../../git/diff.ts';
import { buildCandidate } from '../../merge/candidate.ts';
import type { GateSpec, Plan, Sha } from '../../model/plan.ts';
import type { Config } from '../../plan/config/schema.ts';
import { type BranchToLand, gateOf, landPlan } from '../../plan/land.ts';
import { type LandForecast, landForecast } from '../../report/land-forecast.ts';
import { agentNamed } from '../agents.ts';
import { branchesToLand } from '../branches-to-land.ts';
import { findConfig } from '../config-files.ts';
import { checkHow, type HowToRun } from '../execute.ts';
import { limitsFrom } from '../limits.ts';
import { loadPlan } from '../load-plan.ts';
import { EXIT } from '../main.ts';
import { findPlace, type Place } from '../place.ts';
import { targetIn } from '../target.ts';
import { startRun } from './run.ts';

export interface LandFlags extends HowToRun {
  readonly target?: string;
  readonly gate?: readonly string[];
  readonly verify?: Plan['landing']['verify'];
  readonly strategy?: 'merge' | 'squash' | 'rebase';
  readonly onConflict?: Plan['landing']['onConflict'];
  readonly agent?: string;
  /** A plan whose gates and way of landing are used. */
  readonly plan?: string;
  readonly dryRun?: boolean;
}

/** Lands the branches. */
export async function land(names: readonly string[], flags: LandFlags): Promise<number> {
  const signal = new AbortController().signal;
  const gates = (flags.gate ?? []).map(gateNamed);
  const place = await findPlace(flags.projectDir, signal);
  if (place.repository === null) {
    throw new OperationalError(`${place.dir} is not in a git repository.`, {
      remedy: 'Go to the one with the branches, or name it with -C DIR.',
    });
  }
  const config = await findConfig(place, signal);
  if (config === null) return EXIT.usage;
  const like = likePlan(flags.plan, place, config);
  if (like === 'refused') return EXIT.usage;
  const named = flags.target ?? like?.target ?? config.target;
  const { base, target } = await targetIn(place.repository, named, signal);
  const branches = await branchesToLand(names, { dir: place.dir, target, base }, signal);
  if (branches.length === 0) return EXIT.ok;
  const { verify, strategy } = flags;
  const agent = resolverOf(flags, config);
  const wish = { branches, target, gates, verify, strategy, agent, like, config };
  const wanted = landPlan({ ...wish, home: homedir() });
  const plan = { ...wanted, limits: { ...wanted.limits, ...limitsFrom(flags) } };
  if (flags.dryRun === true) {
    const found = await forecast(plan, branches, { dir: place.dir, base }, signal);
    process.stdout.write(landForecast(plan, found));
    return found.some(({ conflicts }) => conflicts.length > 0) ? EXIT.failed : EXIT.ok;
  }
  checkHow(plan, flags);
  if (plan.gates.length === 0) console.error(`landfast: ${UNVERIFIED}`);
  const hash = createHash('sha256').update(JSON.stringify(branches)).digest('hex');
  return startRun({ plan, hash }, place, flags, signal);
}

const UNVERIFIED = "there is no gate: nothing is tested before it lands (--gate tests='npm test').";

function gateNamed(text: string): GateSpec {
  const gate = gateOf(text);
  if (gate !== null) return gate;
  throw new UserError(`--gate ${text} has no name.`, "Write name=command: --gate tests='npm test'");
}

/** The plan that says how work lands; null where none is named. */
function likePlan(path: string | undefined, place: Place, config: Config): Plan | null | 'refused' {
  if (path === undefined) return null;
  const loaded = loadPlan(path, { root: place.dir, format: null, config });
  return loaded.plan ?? 'refused';
}

/** The agent that is asked to resolve conflicts; null unless somebody wants one. */
function resolverOf({ onConflict, agent }: LandFlags, { defaults }: Config): string | null {
  if (onConflict === 'fail' && agent !== undefined) {
    throw new UserError('With --on-conflict fail no agent is asked.', 'Leave out one of them.');
  }
  if (onConflict !== 'agent' && agent === undefined) return null;
  const name = agent ?? defaults?.agent ?? 'claude';
  if (agentNamed(name).can.prose) return name;
  throw new UserError(`${name} cannot resolve conflicts.`, 'Name a coding agent with --agent.');
}

/** What would become of each branch, merged in memory in the order in which they would land. */
async function forecast(
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
