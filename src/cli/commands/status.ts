/** `landfast status`: a run as it stands, once or until it ends. Reads the journal, nothing else. */

import { setTimeout as pause } from 'node:timers/promises';
import { agentsKnown } from '../../app/agents.ts';
import { isLive, runNamed } from '../../app/find-run.ts';
import type { Place } from '../../app/place.ts';
import { isPlanFolder, pendingText, planOf, runOfPlan } from '../../app/plan-status.ts';
import { lastActions, lastHeard, readState, staleAfter } from '../../app/watch-run.ts';
import { openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { executionResults, executionTable } from '../../report/execution-summary.ts';
import { jsonText } from '../../report/json.ts';
import { statusJson, statusText } from '../../report/status.ts';
import { waitsOf } from '../../schedule/decide.ts';
import { frame } from '../../tui/live.ts';
import { Painter } from '../../tui/painter.ts';
import { inkOf, wantsColor } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { Following } from '../terminal/following.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';
import { clock, openScreen } from '../terminal/screen.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('status')
    .argument(
      '[run]',
      'run id or prefix, or a plan folder (default: the live run, else the latest)',
    )
    .description('show the state of a run')
    .option('-w, --watch', 'keep showing it until it ends')
    .option('--json', 'print JSON')
    .action(wrap((run, _, command: Program) => status(run, command.optsWithGlobals())));
}

export interface StatusFlags {
  readonly projectDir: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** Shows a run. */
export async function status(given: string | undefined, flags: StatusFlags): Promise<number> {
  const signal = new AbortController().signal;
  const place = await placeAt(flags.projectDir, signal);
  using db = openForReading(place.stateDir);
  let prefix = given;
  if (isPlanFolder(given, place)) {
    const plan = await planOf(given, place, signal);
    if (plan === null) return EXIT.usage;
    prefix = runOfPlan(db, plan.name) ?? undefined;
    if (prefix === undefined) {
      process.stdout.write(pendingText(plan, flags.json === true));
      return EXIT.ok;
    }
  }
  const run = runNamed(db, prefix, place);
  if (db === null || run === null) return tellNoRun(flags);
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
  const liveness = {
    lastActivityAt: lastHeard(place.stateDir, run, state),
    staleMs: staleAfter(place),
  };
  const info = { run, now, live, actions, waits, clock, liveness, ink };
  const isTable = state.plan.conventions.summary === 'results' && state.outcome !== null;
  const text = () =>
    isTable ? executionTable(executionResults(state, run)) : statusText(state, info);
  process.stdout.write(flags.json === true ? jsonText(statusJson(state, info)) : text());
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
  const { columns, rows } = process.stdout; // A terminal may say that it has none.
  const now = state.finishedAt ?? Date.now();
  const waits = waitsOf(state, now, agentsKnown);
  const color = wantsColor(process.env, true);
  const liveness = { lastActivityAt: lastHeard(place.stateDir, run, state), staleMs };
  const size = { width: columns || 80, height: (rows || 24) - 1 };
  return frame({ run, state, now, ...size, actions, color, waits, clock, liveness });
}
