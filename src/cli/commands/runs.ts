/** `landfast runs`: all runs of the repository, the newest first. */

import { openForReading } from '../../journal/database.ts';
import { listRuns } from '../../journal/log.ts';
import { jsonText } from '../../report/json.ts';
import { runRow, runsText } from '../../report/status.ts';
import { inkOf, wantsColor } from '../../ui/color.ts';
import { isLive } from '../find-run.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { readState } from '../watch-run.ts';

/** Lists the runs. */
export async function runs(flags: {
  readonly projectDir: string;
  readonly json?: boolean;
}): Promise<number> {
  const place = await findPlace(flags.projectDir, new AbortController().signal);
  using db = openForReading(place.stateDir);
  const rows =
    db === null
      ? []
      : listRuns(db).map(({ run }) => runRow(readState(db, run), { run, live: isLive(db, run) }));
  if (flags.json === true) {
    process.stdout.write(jsonText(rows));
    return EXIT.ok;
  }
  if (rows.length === 0) console.error('No run yet in this repository.');
  const ink = inkOf(wantsColor(process.env, process.stdout.isTTY === true));
  if (rows.length > 0) process.stdout.write(runsText(rows, { time, ink }));
  return EXIT.ok;
}

function time(ms: number): string {
  const date = new Date(ms);
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
