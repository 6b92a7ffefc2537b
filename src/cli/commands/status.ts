/** `landfast status`: a run as it stands, once or until it ends. Reads the journal, nothing else. */

import { openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { jsonText } from '../../report/json.ts';
import { statusJson, statusText } from '../../report/status.ts';
import { dueAt } from '../../schedule/decide.ts';
import { inkOf, wantsColor } from '../../ui/color.ts';
import { frame } from '../../ui/live.ts';
import { Painter } from '../../ui/paint.ts';
import { agentsKnown } from '../agents.ts';
import { isLive, noRun, runNamed } from '../find-run.ts';
import { EXIT } from '../main.ts';
import { findPlace, type Place } from '../place.ts';
import { openScreen } from '../screen.ts';
import { lastActions, readState } from '../watch-run.ts';

export interface StatusFlags {
  readonly projectDir: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** Shows a run. */
export async function status(prefix: string | undefined, flags: StatusFlags): Promise<number> {
  const signal = new AbortController().signal;
  const place = await findPlace(flags.projectDir, signal);
  using db = openForReading(place.stateDir);
  if (db === null) throw noRun(prefix);
  const run = runNamed(db, prefix);
  if (flags.watch === true) return watch(place, run, flags.json === true);
  const state = readState(db, run);
  const now = Date.now();
  const live = isLive(db, run);
  const actions = await lastActions(place.stateDir, run, state, signal);
  const retryAt = (task: Parameters<typeof dueAt>[1]) => dueAt(state, task, agentsKnown);
  const ink = inkOf(wantsColor(process.env, process.stdout.isTTY === true));
  const info = { run, now, live, actions, retryAt, ink };
  process.stdout.write(
    flags.json === true ? jsonText(statusJson(state, info)) : statusText(state, info),
  );
  return EXIT.ok;
}

const FRAME_MS = 200;

/** Follows a run until it ends: a live view on a terminal, lines or NDJSON elsewhere. */
async function watch(place: Place, run: string, json: boolean): Promise<number> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  if (process.stdout.isTTY === true && !json) return watchLive(place, run, stop.signal);
  const options = { run, before: null, dashboard: false, events: json, quiet: false };
  const screen = openScreen({ ...options, lines: 'stdout' });
  for await (const entries of follow(place.stateDir, run, 0, stop.signal)) screen.recorded(entries);
  return EXIT.ok;
}

async function watchLive(place: Place, run: string, signal: AbortSignal): Promise<number> {
  using painter = new Painter(process.stdout);
  const color = wantsColor(process.env, true);
  const over = new AbortController();
  const ended = (async () => {
    for await (const _ of follow(place.stateDir, run, 0, signal));
    over.abort();
  })();
  for (let last = false; ; ) {
    using db = openForReading(place.stateDir);
    if (db === null) break;
    const state = readState(db, run);
    const actions = await lastActions(place.stateDir, run, state, signal);
    const { columns: width = 80, rows: height = 24 } = process.stdout;
    const retryAt = (task: Parameters<typeof dueAt>[1]) => dueAt(state, task, agentsKnown);
    const now = state.finishedAt ?? Date.now();
    const lines = frame({ run, state, now, width, height: height - 1, actions, color, retryAt });
    painter.draw(lines);
    if (last || signal.aborted) {
      painter.close();
      painter.print(lines);
      break;
    }
    last = over.signal.aborted;
    await pause(FRAME_MS, AbortSignal.any([signal, over.signal]));
  }
  await ended;
  return EXIT.ok;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
