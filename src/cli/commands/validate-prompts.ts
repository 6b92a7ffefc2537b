/** `landfast validate --prompts DIR`: whether every prompt file has the sections it should have. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';
import { lacksOf } from '../../plan/formats/cpo/check-prompt.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../main.ts';

/** Exit 0: all are whole; 1: some are not; 2: there are none. */
export function validatePrompts(dir: string, flags: { readonly json?: boolean }): number {
  if (!existsSync(dir)) throw new UserError(`There is no folder ${dir}.`);
  const folder = join(dir, 'prompts');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /\.txt$/.test(name)) : [];
  if (names.length === 0) {
    const remedy = 'None are needed: landfast run makes each prompt from its task file.';
    throw new UserError(`There are no prompts in ${folder}.`, remedy);
  }
  const checked = names.sort().map((name) => {
    const lacks = lacksOf(readFileSync(join(folder, name), 'utf8'));
    return { file: join(folder, name), valid: lacks.length === 0, lacks };
  });
  const bad = checked.filter(({ valid }) => !valid);
  if (flags.json === true) process.stdout.write(jsonText(checked));
  else {
    for (const { file, valid, lacks } of checked) {
      console.log(`${valid ? 'PASS' : 'FAIL'}  ${file}`);
      for (const { what, critical } of lacks) {
        console.log(`      lacks ${what}${critical ? ' (critical)' : ''}`);
      }
    }
    console.log(`${checked.length - bad.length} of ${checked.length} prompts are whole.`);
  }
  return bad.length === 0 ? EXIT.ok : EXIT.failed;
}
