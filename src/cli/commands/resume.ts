/** `landfast resume`: go on with a run, from its journal alone. */

import { openDatabase } from '../../journal/database.ts';
import { readEntries } from '../../journal/log.ts';
import { fold } from '../../model/fold.ts';
import type { Plan } from '../../model/plan.ts';
import { checkHow, closeAgain, execute, type HowToRun } from '../execute.ts';
import { runNamed } from '../find-run.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { withSecrets } from '../secrets.ts';

/** Resumes the run named, or the newest. */
export async function resume(
  prefix: string | undefined,
  how: HowToRun,
  source: Plan | null = null,
): Promise<number> {
  const place = await findPlace(how.projectDir, new AbortController().signal);
  using db = openDatabase(place.stateDir);
  const run = runNamed(db, prefix);
  const before = fold(readEntries(db, run, 0));
  if (before.outcome === 'succeeded') {
    await closeAgain({ place, db, run, plan: before.plan, started: null, before, how });
    console.error(`landfast: run ${run} has succeeded; there is nothing left to do.`);
    return EXIT.ok;
  }
  const plan = withSecrets(before.plan, source, process.env);
  checkHow(plan, how);
  return await execute({ place, db, run, plan, started: null, before, how });
}
