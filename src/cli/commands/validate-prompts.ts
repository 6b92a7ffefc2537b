/** `landfast validate --prompts DIR`: whether every prompt file has the sections it should have. */

import { existsSync } from 'node:fs';
import { checkPrompts } from '../../app/check-prompts.ts';
import { UserError } from '../../base/errors.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags } from '../options.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { printJson } from '../terminal/output.ts';

interface PromptFlags extends CommonFlags {
  /** Write those that lack something again, from their task files. */
  readonly fix?: boolean;
}

/** Exit 0: all are whole, or are now; 1: some are not; 2: there are none. */
export async function validatePrompts(dir: string, flags: PromptFlags): Promise<number> {
  const { projectDir, fix = false, json = false } = flags;
  if (!existsSync(dir)) throw new UserError(`There is no folder ${dir}.`);
  const checked = checkPrompts(dir, fix ? await placeAt(projectDir, NEVER) : null);
  const bad = checked.filter(({ valid }) => !valid);
  if (json) printJson(checked);
  else {
    for (const { file, valid, lacks, mended } of checked) {
      const how = mended === undefined ? '' : ` (regenerated; the old one: ${mended})`;
      console.log(`${valid ? 'PASS' : 'FAIL'}  ${file}${how}`);
      if (!valid && fix) console.log('      has no task file, so it is left as it is');
      for (const { what, critical } of lacks) {
        console.log(`      lacks ${what}${critical ? ' (critical)' : ''}`);
      }
    }
    console.log(`${checked.length - bad.length} of ${checked.length} prompts are complete.`);
  }
  return bad.length === 0 ? EXIT.ok : EXIT.failed;
}
