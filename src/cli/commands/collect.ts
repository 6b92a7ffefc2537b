/** `landfast collect`: the results of a run, from any process, now or when it has ended. */

import { type Database, openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { jsonText } from '../../report/json.ts';
import { resultsJson, resultsText } from '../../report/results.ts';
import { inkOf, wantsColor } from '../../ui/color.ts';
import { isLive, noRun, runNamed } from '../find-run.ts';
import { Following } from '../live.ts';
import { EXIT } from '../main.ts';
import { findPlace, type Place } from '../place.ts';
import { openScreen } from '../screen.ts';
import { readState, runExitCode } from '../watch-run.ts';
import { INTERRUPTED, sayLeft } from './attach.ts';

export interface CollectFlags {
  readonly projectDir: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** Shows what is over; having waited, it ends with the exit code of the run. */
export async function collect(prefix: string | undefined, flags: CollectFlags): Promise<number> {
  const place = await findPlace(flags.projectDir, new AbortController().signal);
  using db = openForReading(place.stateDir);
  if (db === null) throw noRun(prefix);
  const run = runNamed(db, prefix);
  if (flags.wait !== true) {
    show(db, run, flags);
    return EXIT.ok;
  }
  if (await untilOver(place, run)) return show(db, run, flags);
  sayLeft(run);
  return INTERRUPTED;
}

/** Tells on standard error how it goes on; false when somebody does not want to wait longer. */
async function untilOver(place: Place, run: string): Promise<boolean> {
  using following = new Following(place.stateDir, run);
  const { signal } = following;
  const screen = openScreen({ run, before: null, dashboard: false, events: false, quiet: false });
  for await (const entries of follow(place.stateDir, run, 0, signal)) screen.recorded(entries);
  return signal.reason !== 'interrupted';
}

function show(db: Database, run: string, { json }: CollectFlags): number {
  const state = readState(db, run);
  const ink = inkOf(wantsColor(process.env, process.stdout.isTTY === true));
  const info = { run, live: isLive(db, run), ink };
  process.stdout.write(
    json === true ? jsonText(resultsJson(state, info)) : resultsText(state, info),
  );
  return runExitCode(state);
}
