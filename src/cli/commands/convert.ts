/** `landfast convert`: any accepted plan as a native one. */

import { writeFileSync } from 'node:fs';
import { convertPlan } from '../../app/convert.ts';
import { messageOf, OperationalError, UserError } from '../../base/errors.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { NEVER, placeAt } from '../terminal/host.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('convert')
    .argument('<plan>', 'the plan file, of any known format')
    .description("convert a plan to Landfast's own format")
    .option('-o, --output <file>', 'write it to this file instead of standard output')
    .option('--force', 'overwrite that file')
    .option('--format <name>', 'read the plan as this format instead of detecting it')
    .action(wrap((plan, _, command: Program) => convert(plan, command.optsWithGlobals())));
}

interface ConvertFlags {
  readonly projectDir: string;
  readonly format?: string;
  readonly output?: string;
  readonly force?: boolean;
}

/** Prints the native plan, or writes it to a file. What it holds is the user's own: no masks. */
export async function convert(path: string, flags: ConvertFlags): Promise<number> {
  const place = await placeAt(flags.projectDir, NEVER);
  const result = await convertPlan(path, flags.format ?? null, place, NEVER);
  if (result === null) return EXIT.ok;
  if (result.kind === 'problems') {
    console.error('landfast: the native format cannot express all of this plan:');
    for (const problem of result.problems) console.error(problem);
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
      throw new UserError(`${path} already exists.`, 'Use --force to overwrite it.');
    }
    throw new OperationalError(`${path} could not be written: ${messageOf(error)}`);
  }
}
