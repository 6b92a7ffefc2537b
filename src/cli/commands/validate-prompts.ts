/** `landfast validate --prompts DIR`: whether every prompt file has the sections it should have. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { inputOf } from '../../app/load-plan.ts';
import { writeWhole } from '../../app/write-whole.ts';
import { UserError } from '../../base/errors.ts';
import { FORMATS } from '../../plan/formats/index.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import { placeAt } from '../terminal/host.ts';

/** Of the one format that has such files. */
const { lacksOf, made: promptsMade } = FORMATS.find((format) => format.promptFiles)!.promptFiles!;

export interface PromptFlags {
  readonly projectDir: string;
  readonly json?: boolean;
  /** Write those that lack something again, from their task files. */
  readonly fix?: boolean;
}

/** Exit 0: all are whole, or are now; 1: some are not; 2: there are none. */
export async function validatePrompts(dir: string, flags: PromptFlags): Promise<number> {
  if (!existsSync(dir)) throw new UserError(`There is no folder ${dir}.`);
  const folder = join(dir, 'prompts');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /\.txt$/.test(name)) : [];
  if (names.length === 0) {
    const remedy = 'None are needed: landfast run makes each prompt from its task file.';
    throw new UserError(`There are no prompts in ${folder}.`, remedy);
  }
  const made = flags.fix === true ? await promptsFor(dir, flags.projectDir) : new Map();
  const checked = names.sort().map((name) => {
    const file = join(folder, name);
    const mended = mend(file, made.get(relative(dir, file)));
    const lacks = lacksOf(readFileSync(file, 'utf8'));
    return { file, valid: lacks.length === 0, lacks, ...(mended === null ? {} : { mended }) };
  });
  const bad = checked.filter(({ valid }) => !valid);
  if (flags.json === true) process.stdout.write(jsonText(checked));
  else {
    for (const { file, valid, lacks, mended } of checked) {
      const how = mended === undefined ? '' : ` (regenerated; the old one: ${mended})`;
      console.log(`${valid ? 'PASS' : 'FAIL'}  ${file}${how}`);
      if (!valid && flags.fix === true)
        console.log('      has no task file, so it is left as it is');
      for (const { what, critical } of lacks) {
        console.log(`      lacks ${what}${critical ? ' (critical)' : ''}`);
      }
    }
    console.log(`${checked.length - bad.length} of ${checked.length} prompts are complete.`);
  }
  return bad.length === 0 ? EXIT.ok : EXIT.failed;
}

async function promptsFor(dir: string, projectDir: string): Promise<ReadonlyMap<string, string>> {
  const place = await placeAt(projectDir, new AbortController().signal);
  return promptsMade(inputOf(dir, { root: place.dir, host: place.host, format: null }));
}

/** Writes a prompt that lacks something again; answers with the file that holds the old one. */
function mend(file: string, made: string | undefined): string | null {
  const text = readFileSync(file, 'utf8');
  if (made === undefined || lacksOf(text).length === 0) return null;
  const backup = freeName(`${file}.backup`);
  writeFileSync(backup, text, { flag: 'wx' });
  writeWhole(file, made);
  return backup;
}

function freeName(path: string): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? path : `${path}-${n}`;
    if (!existsSync(name)) return name;
  }
}
