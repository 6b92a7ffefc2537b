/** `landfast collect`: the results of a run, from any process, now or when it has ended. */

import { isLive, runNamed } from '../../app/find-run.ts';
import type { Place } from '../../app/place.ts';
import { readState } from '../../app/watch-run.ts';
import { type Database, openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { jsonText } from '../../report/json.ts';
import { resultsJson, resultsText } from '../../report/results.ts';
import { inkOf, wantsColor } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { Following } from '../terminal/following.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';
import { openScreen } from '../terminal/screen.ts';
import { runExitCode } from '../terminal/signals.ts';
import { INTERRUPTED, sayLeft } from './attach.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('collect')
    .argument('[run]', 'run id or prefix (default: the live run, else the latest)')
    .description('show the results of finished tasks and the last words of their agents')
    .option('-w, --wait', 'wait for the run to end, then exit with its exit code')
    .option('--json', 'print JSON')
    .action(wrap((run, _, command: Program) => collect(run, command.optsWithGlobals())));
}

export interface CollectFlags {
  readonly projectDir: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** Shows what is over; having waited, it ends with the exit code of the run. */
export async function collect(prefix: string | undefined, flags: CollectFlags): Promise<number> {
  const place = await placeAt(flags.projectDir, new AbortController().signal);
  using db = openForReading(place.stateDir);
  const run = runNamed(db, prefix, place);
  if (db === null || run === null) return tellNoRun(flags);
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
