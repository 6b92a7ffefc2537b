/** `landfast land`: sends branches of any origin through the landing queue. */

import { Option } from 'commander';
import { forecast, gateNamed, planLanding } from '../../app/land-branches.ts';
import { UserError } from '../../base/errors.ts';
import type { Plan } from '../../model/plan.ts';
import { landForecast } from '../../report/plan-text.ts';
import { EXIT } from '../exit.ts';
import { howToRun, limitsFrom, more, type Program, type Wrap } from '../options.ts';
import { type HowToRun, startRun } from '../terminal/drive.ts';
import { NEVER, placeAt } from '../terminal/host.ts';

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

interface LandFlags extends HowToRun {
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

async function land(branches: readonly string[], flags: LandFlags): Promise<number> {
  const { target, verify, strategy, plan: like } = flags;
  const gates = (flags.gate ?? []).map(gateNamed);
  const place = await placeAt(flags.projectDir, NEVER);
  const wish = { branches, target, gates, verify, strategy, like, limits: limitsFrom(flags) };
  const landing = await planLanding({ ...wish, agent: resolverOf(flags) }, place, NEVER);
  if (landing.plan === null) return EXIT.ok;
  if (flags.dryRun !== true) return startRun(landing, place, flags, NEVER);
  const found = await forecast(landing, place, NEVER);
  process.stdout.write(landForecast(landing.plan, found));
  return found.some(({ conflicts }) => conflicts.length > 0) ? EXIT.failed : EXIT.ok;
}

function resolverOf({ onConflict, agent }: LandFlags): string | null {
  if (onConflict !== 'fail') return agent ?? (onConflict === 'agent' ? 'configured' : null);
  if (agent === undefined) return null;
  throw new UserError(
    'With --on-conflict fail, no agent resolves conflicts.',
    'Leave out one of them.',
  );
}
