/** `landfast plan`: check a plan and show what would run. */

import { jsonText } from '../../report/json.ts';
import { planJson, planText } from '../../report/plan-text.ts';
import { adjust } from '../adjust.ts';
import { isCoding, requireAbilities } from '../agents.ts';
import { findConfig } from '../config-files.ts';
import { loadPlan } from '../load-plan.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { withoutSecrets } from '../secrets.ts';
import { type WishFlags, wishesOf } from '../wishes.ts';
import { validatePrompts } from './validate-prompts.ts';

export interface PlanCommandFlags extends WishFlags {
  readonly projectDir: string;
  readonly format?: string;
  readonly maxWorkers?: number;
  readonly json?: boolean;
  readonly explain?: boolean;
  /** Check the prompt files of a folder instead. */
  readonly prompts?: boolean;
}

/** Prints the plan; nothing is started and nothing is written. */
export async function plan(path: string, flags: PlanCommandFlags): Promise<number> {
  if (flags.prompts === true) return validatePrompts(path, flags);
  const signal = new AbortController().signal;
  const place = await findPlace(flags.projectDir, signal);
  const config = await findConfig(place, signal);
  if (config === null) return EXIT.usage;
  const from = { root: place.dir, format: flags.format ?? null, config, wishes: wishesOf(flags) };
  const loaded = loadPlan(path, from);
  if (flags.explain === true && flags.json !== true) {
    process.stdout.write(loaded.why.map((line) => `${line}\n`).join(''));
  }
  if (loaded.plan === null) return loaded.exit;
  const { maxWorkers } = flags;
  const shown = adjust(loaded.plan, maxWorkers === undefined ? {} : { maxWorkers }, isCoding);
  requireAbilities(shown);
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
