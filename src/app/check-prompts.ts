/** Whether every prompt file of a folder has the sections it should have, and mending those that lack some. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { UserError } from '../base/errors.ts';
import { freePath, writeWhole } from '../base/write-whole.ts';
import { FORMATS } from '../plan/formats/index.ts';
import { inputOf } from './load-plan.ts';
import type { Place } from './place.ts';

const { lacksOf, made: promptsMade } = FORMATS.find((format) => format.promptFiles)!.promptFiles!;

export interface CheckedPrompt {
  readonly file: string;
  readonly valid: boolean;
  readonly lacks: ReturnType<typeof lacksOf>;
  /** The file with the old text, where it was written again. */
  readonly mended?: string;
}

/** Checks the prompts of a folder; with a place, those that lack something are written again. */
export function checkPrompts(dir: string, fixedIn: Place | null): readonly CheckedPrompt[] {
  const folder = join(dir, 'prompts');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /\.txt$/.test(name)) : [];
  if (names.length === 0) {
    const remedy = 'None are needed: landfast run makes each prompt from its task file.';
    throw new UserError(`There are no prompts in ${folder}.`, remedy);
  }
  const made =
    fixedIn === null
      ? new Map<string, string>()
      : promptsMade(inputOf(dir, { root: fixedIn.dir, host: fixedIn.host, format: null }));
  return names.sort().map((name) => {
    const file = join(folder, name);
    const mended = mend(file, made.get(relative(dir, file)));
    const lacks = lacksOf(readFileSync(file, 'utf8'));
    return { file, valid: lacks.length === 0, lacks, ...(mended === null ? {} : { mended }) };
  });
}

/** Writes a prompt that lacks something again; answers with the file that holds the old one. */
function mend(file: string, made: string | undefined): string | null {
  const text = readFileSync(file, 'utf8');
  if (made === undefined || lacksOf(text).length === 0) return null;
  const backup = freePath(`${file}.backup`);
  writeFileSync(backup, text, { flag: 'wx' });
  writeWhole(file, made);
  return backup;
}
