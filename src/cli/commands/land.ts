/** `landfast land`: branches made by anybody go through the landing queue. */

import { createHash } from 'node:crypto';
import { Option } from 'commander';
import { agentNamed } from '../../app/agents.ts';
import { branchesToLand, forecast } from '../../app/branches-to-land.ts';
import { findConfig } from '../../app/config-files.ts';
import { loadPlan } from '../../app/load-plan.ts';
import { type Place, requireRepository } from '../../app/place.ts';
import { targetIn } from '../../app/target.ts';
import { UserError } from '../../base/errors.ts';
import type { GateSpec, Plan } from '../../model/plan.ts';
import type { Config } from '../../plan/config/schema.ts';
import { gateOf, landPlan } from '../../plan/land-plan.ts';
import { landForecast } from '../../report/plan-text.ts';
import { EXIT } from '../exit.ts';
import { limitsFrom } from '../limits.ts';
import { howToRun, more, type Program, type Wrap } from '../options.ts';
import { type HowToRun, startRun } from '../terminal/drive.ts';
import { placeAt, terminalHost } from '../terminal/host.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('land')
    .argument(
      '<branches...>',
      'finished branches, local or remote-tracking: feature, origin/feature',
    )
    .description('land finished branches from any tool or person: merge in memory, verify, publish')
    .option('--target <branch>', 'land on this branch instead of the current one')
    .option('--gate <name=command>', 'a command that must pass; repeatable', more)
    .addOption(
      new Option(
        '--verify <which>',
        'verify every combination, the last of a batch, or none',
      ).choices(['each', 'batch', 'off']),
    )
    .addOption(
      new Option('--strategy <how>', 'how a branch lands').choices(['merge', 'squash', 'rebase']),
    )
    .addOption(
      new Option('--on-conflict <who>', 'who resolves a conflict (default: fail)').choices([
        'agent',
        'fail',
      ]),
    )
    .option('--agent <name>', 'let this agent resolve conflicts')
    .option('--plan <file>', 'use the gates, set-up and limits of this plan, not its tasks')
    .option('-n, --dry-run', 'show what would land and what conflicts, and stop');
  howToRun(described).action(
    wrap((branches, _, command: Program) => land(branches, command.optsWithGlobals())),
  );
}

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
  const place = await placeAt(flags.projectDir, signal);
  const repository = requireRepository(place);
  const config = await findConfig(place, signal);
  const like = likePlan(flags.plan, place, config);
  const named = flags.target ?? like?.target ?? config.target;
  const { base, target } = await targetIn(repository, named, signal);
  const branches = await branchesToLand(
    names,
    { dir: place.dir, target, base, host: place.host },
    signal,
  );
  if (branches.length === 0) return EXIT.ok;
  const { verify, strategy } = flags;
  const agent = resolverOf(flags, config);
  const wish = { branches, target, gates, verify, strategy, agent, like, config };
  const wanted = landPlan({ ...wish, home: place.host.home });
  const plan = { ...wanted, limits: { ...wanted.limits, ...limitsFrom(flags) } };
  if (flags.dryRun === true) {
    const found = await forecast(plan, branches, { dir: place.dir, base }, signal);
    process.stdout.write(landForecast(plan, found));
    return found.some(({ conflicts }) => conflicts.length > 0) ? EXIT.failed : EXIT.ok;
  }
  const hash = createHash('sha256').update(JSON.stringify(branches)).digest('hex');
  return startRun({ plan, hash }, place, flags, signal);
}

function gateNamed(text: string): GateSpec {
  const gate = gateOf(text);
  if (gate !== null) return gate;
  throw new UserError(`--gate ${text} has no name.`, "Write name=command: --gate tests='npm test'");
}

/** The plan that says how work lands; null where none is named. */
function likePlan(path: string | undefined, place: Place, config: Config): Plan | null {
  if (path === undefined) return null;
  const { dir: root, host } = place;
  return loadPlan(path, { root, host, format: null, config })?.plan ?? null;
}

/** The agent that is asked to resolve conflicts; null unless somebody wants one. */
function resolverOf({ onConflict, agent }: LandFlags, { defaults }: Config): string | null {
  if (onConflict === 'fail' && agent !== undefined) {
    throw new UserError(
      'With --on-conflict fail, no agent resolves conflicts.',
      'Leave out one of them.',
    );
  }
  if (onConflict !== 'agent' && agent === undefined) return null;
  const name = agent ?? defaults?.agent ?? 'claude';
  if (agentNamed(name, terminalHost()).can.prose) return name;
  throw new UserError(`${name} cannot resolve conflicts.`, 'Name a coding agent with --agent.');
}
