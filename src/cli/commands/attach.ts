/** `landfast attach`: a run that somebody else drives, as if it ran here; leaving does not end it. */

import { openForReading } from '../../journal/database.ts';
import { shellWord } from '../../report/clean.ts';
import { tell } from '../execute.ts';
import { noRun, runNamed } from '../find-run.ts';
import { Following } from '../live.ts';
import { findPlace } from '../place.ts';
import { readState, runExitCode } from '../watch-run.ts';
import { watch } from './status.ts';

/** The exit code of somebody who stops looking. */
export const INTERRUPTED = 130;

/** Shows a run until it ends, then its summary; answers with the run's own exit code. */
export async function attach(
  prefix: string | undefined,
  flags: { readonly projectDir: string },
): Promise<number> {
  const place = await findPlace(flags.projectDir, new AbortController().signal);
  using db = openForReading(place.stateDir);
  if (db === null) throw noRun(prefix);
  const run = runNamed(db, prefix);
  using following = new Following(place.stateDir, run);
  await watch(place, run, false, following.signal);
  if (following.signal.reason === 'interrupted') {
    sayLeft(run);
    return INTERRUPTED;
  }
  const state = readState(db, run);
  await tell({ place, run, how: { projectDir: flags.projectDir, log: true } }, state);
  return runExitCode(state);
}

/** Says that a run is not ended by not looking at it. */
export function sayLeft(run: string): void {
  const id = shellWord(run);
  console.error(`Run ${run} goes on without you.`);
  console.error(`  See it again: landfast attach ${id}. End it: landfast cancel --run ${id}`);
}
