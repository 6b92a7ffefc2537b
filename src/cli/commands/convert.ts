/** `landfast convert`: any accepted plan as a native one. */

import { writeFileSync } from 'node:fs';
import { messageOf, OperationalError, UserError } from '../../base/errors.ts';
import { convert as converted } from '../../plan/convert.ts';
import { formatProblem } from '../../plan/problem.ts';
import { findConfig } from '../config-files.ts';
import { inputOf, loadPlan } from '../load-plan.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';

export interface ConvertFlags {
  readonly projectDir: string;
  readonly format?: string;
  readonly output?: string;
  readonly force?: boolean;
}

/** Prints the native plan, or writes it to a file. What it holds is the user's own: no masks. */
export async function convert(path: string, flags: ConvertFlags): Promise<number> {
  const signal = new AbortController().signal;
  const place = await findPlace(flags.projectDir, signal);
  const config = await findConfig(place, signal);
  if (config === null) return EXIT.usage;
  const from = { root: place.dir, format: flags.format ?? null, config };
  const loaded = loadPlan(path, from);
  if (loaded.plan === null) return loaded.exit;
  const result = converted(loaded, inputOf(path, from));
  if (result.kind === 'problems') {
    console.error('landfast: a native plan cannot say all of this plan:');
    for (const problem of result.problems) console.error(formatProblem(problem));
    return EXIT.failed;
  }
  if (flags.output === undefined) process.stdout.write(result.text);
  else write(flags.output, result.text, flags.force === true);
  return EXIT.ok;
}

function write(path: string, text: string, isForced: boolean): void {
  try {
    writeFileSync(path, text, { flag: isForced ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new UserError(`${path} is there already.`, 'Use --force to overwrite it.');
    }
    throw new OperationalError(`${path} could not be written: ${messageOf(error)}`);
  }
}
