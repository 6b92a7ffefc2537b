/** `landfast plan`: check a plan and show what would run. */

import { isCoding, requireAbilities } from '../../app/agents.ts';
import { type LoadedPlan, readPlan } from '../../app/load-plan.ts';
import { adjust, type ReadFlags, readOptionsOf } from '../../app/plan-flags.ts';
import { ProblemsError } from '../../app/problems.ts';
import { withoutSecrets } from '../../app/secrets.ts';
import { UserError } from '../../base/errors.ts';
import { planJson, planText } from '../../report/plan-text.ts';
import { EXIT } from '../exit.ts';
import { limitsFrom, type Program, positive, type Wrap } from '../options.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { printJson } from '../terminal/output.ts';
import { validatePrompts } from './validate-prompts.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('plan')
    .alias('validate')
    .argument('<plan>', 'the plan file')
    .description('check a plan and show it: stages, critical path, overlaps, gates, limits')
    .option('--format <name>', 'read it as this format instead of detecting it')
    .option('--explain', 'first show the detected format and why')
    .option('--no-barriers', 'show it without barriers between waves')
    .option('--prompts', 'check the prompt files of a folder instead')
    .option('--fix', 'with --prompts: regenerate incomplete prompts, keeping the old ones')
    .option('--max-workers <n>', 'show it for this many workers', positive)
    .option('--json', 'print JSON')
    .action(wrap((path, _, command: Program) => plan(path, command.optsWithGlobals())));
}

interface PlanCommandFlags extends ReadFlags {
  readonly projectDir: string;
  readonly format?: string;
  readonly maxWorkers?: number;
  readonly json?: boolean;
  readonly explain?: boolean;
  /** Check the prompt files of a folder instead. */
  readonly prompts?: boolean;
  /** With `prompts`: write those that lack something again. */
  readonly fix?: boolean;
}

/** Prints the plan; nothing is started and nothing is written. */
export async function plan(path: string, flags: PlanCommandFlags): Promise<number> {
  if (flags.prompts === true) return validatePrompts(path, flags);
  if (flags.fix === true) throw new UserError('--fix applies only to prompts.', 'Add --prompts.');
  const place = await placeAt(flags.projectDir, NEVER);
  const { json = false, explain = false, format = null } = flags;
  const reading = readPlan(path, place, { format, options: readOptionsOf(flags) }, NEVER);
  const loaded = await (explain && !json ? explained(reading) : reading);
  if (loaded === null) return EXIT.ok;
  const shown = adjust(loaded.plan, { limits: limitsFrom(flags) }, isCoding);
  requireAbilities(shown, place.host);
  const why = explain ? { why: loaded.why } : {};
  if (json) printJson({ format: loaded.format, ...why, ...planJson(withoutSecrets(shown)) });
  else {
    const maxWorkers = shown.limits.workers;
    process.stdout.write(planText(shown, { format: loaded.format, maxWorkers }));
  }
  return EXIT.ok;
}

/** Says how the format was found, also of a plan with errors. */
async function explained(reading: Promise<LoadedPlan | null>): Promise<LoadedPlan | null> {
  const explain = (why: readonly string[]): void => {
    process.stdout.write(why.map((line) => `${line}\n`).join(''));
  };
  try {
    const loaded = await reading;
    explain(loaded?.why ?? []);
    return loaded;
  } catch (error) {
    if (error instanceof ProblemsError) explain(error.why);
    throw error;
  }
}
