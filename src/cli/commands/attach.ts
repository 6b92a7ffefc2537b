/** `landfast attach`: shows a run of another process as if it ran here; leaving does not end it. */

import { viewRun } from '../../app/runs.ts';
import { shellWord } from '../../report/sanitize.ts';
import type { Program, Wrap } from '../options.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/output.ts';
import { runExitCode } from '../terminal/signals.ts';
import { tell } from '../terminal/tell.ts';
import { watch } from './status.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('attach')
    .argument('[run]', 'run id or prefix (default: the live run, else the latest)')
    .description('watch a run in the background; Ctrl-C leaves it running')
    .action(wrap((run, _, command: Program) => attach(run, command.optsWithGlobals())));
}

/** The exit code after leaving. */
export const INTERRUPTED = 130;

/** Shows a run until it ends, then its summary; answers with the run's own exit code. */
async function attach(
  prefix: string | undefined,
  flags: { readonly projectDir: string },
): Promise<number> {
  const place = await placeAt(flags.projectDir, NEVER);
  const run = viewRun(place, prefix)?.run;
  if (run === undefined) return tellNoRun({});
  if ((await watch(place, run, false)) === 'stopped') {
    sayLeft(run);
    return INTERRUPTED;
  }
  const { state } = viewRun(place, run)!;
  await tell({ place, run, how: {} }, state);
  return runExitCode(state);
}

/** Says that a run is not ended by not looking at it. */
export function sayLeft(run: string): void {
  const id = shellWord(run);
  console.error(`Run ${run} keeps running without you.`);
  console.error(`  Watch it again: landfast attach ${id}. End it: landfast cancel --run ${id}`);
}
