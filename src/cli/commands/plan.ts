/** `landfast plan`: check a plan and show what would run. */

import { adjust } from '../../app/adjust.ts';
import { isCoding, requireAbilities } from '../../app/agents.ts';
import { findConfig } from '../../app/config-files.ts';
import { type LoadedPlan, loadPlan } from '../../app/load-plan.ts';
import { ProblemsError } from '../../app/problems.ts';
import { type ReadFlags, readOptionsOf } from '../../app/read-options.ts';
import { withoutSecrets } from '../../app/secrets.ts';
import { UserError } from '../../base/errors.ts';
import { jsonText } from '../../report/json.ts';
import { planJson, planText } from '../../report/plan-text.ts';
import { EXIT } from '../exit.ts';
import { limitsFrom } from '../limits.ts';
import { type Program, positive, type Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';
import { validatePrompts } from './validate-prompts.ts';

/** Describes the command for the command line and its help. */
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

export interface PlanCommandFlags extends ReadFlags {
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
  const signal = new AbortController().signal;
  const place = await placeAt(flags.projectDir, signal);
  const config = await findConfig(place, signal);
  const { dir: root, host } = place;
  const from = { root, host, format: flags.format ?? null, config, options: readOptionsOf(flags) };
  const explain = flags.explain === true && flags.json !== true ? printLines : () => undefined;
  const loaded = explained(() => loadPlan(path, from), explain);
  if (loaded === null) return EXIT.ok;
  const shown = adjust(loaded.plan, { limits: limitsFrom(flags) }, isCoding);
  requireAbilities(shown, place.host);
  const { workers } = shown.limits;
  process.stdout.write(
    flags.json === true
      ? jsonText({
          format: loaded.format,
          ...(flags.explain === true ? { why: loaded.why } : {}),
          ...planJson(withoutSecrets(shown)),
        })
      : planText(shown, { format: loaded.format, maxWorkers: workers }),
  );
  return EXIT.ok;
}

/** Says how the format was found, also of a plan with errors. */
function explained(
  load: () => LoadedPlan | null,
  explain: (why: readonly string[]) => void,
): LoadedPlan | null {
  try {
    const loaded = load();
    explain(loaded?.why ?? []);
    return loaded;
  } catch (error) {
    if (error instanceof ProblemsError) explain(error.why);
    throw error;
  }
}

function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
