/** `landfast runs`: all runs of the repository, the newest first. */

import { runNamed } from '../../app/find-run.ts';
import { readState } from '../../app/watch-run.ts';
import { openForReading } from '../../journal/database.ts';
import { listRuns } from '../../journal/journal.ts';
import { jsonText } from '../../report/json.ts';
import { runRow, runsText } from '../../report/status.ts';
import { inkOf, wantsColor } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('runs')
    .description('all runs of this repository')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => runs(command.optsWithGlobals())));
}

/** Lists the runs. */
export async function runs(flags: {
  readonly projectDir: string;
  readonly json?: boolean;
}): Promise<number> {
  const place = await placeAt(flags.projectDir, new AbortController().signal);
  using db = openForReading(place.stateDir);
  const newest = runNamed(db, undefined, place);
  if (db === null || newest === null) return tellNoRun(flags, []);
  const rows = listRuns(db).map(({ run }) => runRow(readState(db, run), run));
  if (flags.json === true) {
    process.stdout.write(jsonText(rows));
    return EXIT.ok;
  }
  const ink = inkOf(wantsColor(process.env, process.stdout.isTTY === true));
  process.stdout.write(runsText(rows, { time, ink }));
  return EXIT.ok;
}

function time(ms: number): string {
  const date = new Date(ms);
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
