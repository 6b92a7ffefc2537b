/** `landfast status`: a run as it stands, once or until it ends. Reads the journal, nothing else. */

import { setTimeout as pause } from 'node:timers/promises';
import { openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { findRun } from '../../journal/log.ts';
import { jsonText } from '../../report/json.ts';
import { statusJson, statusText } from '../../report/status.ts';
import { resultsOf, resultsTable } from '../../report/task-results.ts';
import { waitsOf } from '../../schedule/decide.ts';
import { inkOf, wantsColor } from '../../ui/color.ts';
import { frame } from '../../ui/live.ts';
import { Painter } from '../../ui/paint.ts';
import { agentsKnown } from '../agents.ts';
import { isLive, noRun, runNamed } from '../find-run.ts';
import { Following } from '../live.ts';
import { EXIT } from '../main.ts';
import { findPlace, type Place } from '../place.ts';
import { isPlanFolder, newestRunNamed, pendingText, planOf } from '../plan-status.ts';
import { clock, openScreen } from '../screen.ts';
import { lastActions, lastHeard, readState, staleAfter } from '../watch-run.ts';

export interface StatusFlags {
  readonly projectDir: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** Shows a run. */
export async function status(given: string | undefined, flags: StatusFlags): Promise<number> {
  const signal = new AbortController().signal;
  const place = await findPlace(flags.projectDir, signal);
  using db = openForReading(place.stateDir);
  let prefix = given;
  if (isPlanFolder(given)) {
    const plan = await planOf(given, place, signal);
    if (plan === null) return EXIT.usage;
    prefix = newestRunNamed(db, plan.name) ?? undefined;
    if (prefix === undefined) {
      process.stdout.write(pendingText(plan, flags.json === true));
      return EXIT.ok;
    }
  }
  const hasRun = db !== null && findRun(db, null).kind !== 'none';
  if (!hasRun && prefix === undefined) return tellNothing(flags.json === true);
  if (db === null) throw noRun(prefix);
  const run = runNamed(db, prefix);
  if (flags.watch === true) {
    using following = new Following(place.stateDir, run);
    await watch(place, run, flags.json === true, following.signal);
    return EXIT.ok;
  }
  const state = readState(db, run);
  const now = Date.now();
  const live = isLive(db, run);
  const actions = await lastActions(place.stateDir, run, state, signal);
  const waits = waitsOf(state, now, agentsKnown);
  const ink = inkOf(wantsColor(process.env, process.stdout.isTTY === true));
  const hearing = { heardAt: lastHeard(place.stateDir, run, state), staleMs: staleAfter(place) };
  const info = { run, now, live, actions, waits, clock, hearing, ink };
  const isTable = state.plan.conventions.summary === 'results' && state.outcome !== null;
  const text = () => (isTable ? resultsTable(resultsOf(state, run)) : statusText(state, info));
  process.stdout.write(flags.json === true ? jsonText(statusJson(state, info)) : text());
  return EXIT.ok;
}

/** That nothing was run yet is an answer, not a mistake. */
function tellNothing(json: boolean): number {
  const remedy = 'Start one: landfast run PLAN';
  process.stdout.write(json ? jsonText(null) : `No run yet in this repository. ${remedy}\n`);
  return EXIT.ok;
}

const FRAME_MS = 200;
const LOOK_LIMIT_MS = 10_000;

/** Follows a run until it ends: a live view on a terminal, lines or NDJSON elsewhere. */
export async function watch(
  place: Place,
  run: string,
  json: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (process.stdout.isTTY === true && !json) return watchLive(place, run, signal);
  const options = { run, before: null, dashboard: false, events: json, quiet: false };
  const screen = openScreen({ ...options, lines: 'stdout' });
  for await (const entries of follow(place.stateDir, run, 0, signal)) screen.recorded(entries);
}

async function watchLive(place: Place, run: string, signal: AbortSignal): Promise<void> {
  using painter = new Painter(process.stdout);
  const staleMs = staleAfter(place);
  let lines: readonly string[] = [];
  let over = false;
  const ended = (async () => {
    for await (const _ of follow(place.stateDir, run, 0, signal)); // Until there is no more.
    over = true;
  })();
  for (let last = false; !last; ) {
    last = over || signal.aborted;
    lines = await currentFrame(place, run, staleMs);
    painter.draw(lines);
    if (!last) await Promise.race([ended, pause(FRAME_MS)]);
  }
  painter.close();
  painter.print(lines);
  await ended;
}

async function currentFrame(
  place: Place,
  run: string,
  staleMs: number,
): Promise<readonly string[]> {
  using db = openForReading(place.stateDir);
  if (db === null) return [];
  const state = readState(db, run);
  const signal = AbortSignal.timeout(LOOK_LIMIT_MS);
  const actions = await lastActions(place.stateDir, run, state, signal);
  const { columns: width = 80, rows: height = 24 } = process.stdout;
  const now = state.finishedAt ?? Date.now();
  const waits = waitsOf(state, now, agentsKnown);
  const color = wantsColor(process.env, true);
  const hearing = { heardAt: lastHeard(place.stateDir, run, state), staleMs };
  const size = { width, height: height - 1 };
  return frame({ run, state, now, ...size, actions, color, waits, clock, hearing });
}
