/** `landfast status`: a run as it stands, once or until it ends. Reads the journal, nothing else. */

import { setTimeout as pause } from 'node:timers/promises';
import { activityIn, staleAfter } from '../../app/activity.ts';
import { isPlanFolder, readPlan } from '../../app/load-plan.ts';
import type { Place } from '../../app/place.ts';
import { type Followed, type RunView, viewRun, viewRunOfPlan } from '../../app/runs.ts';
import { executionResults, executionTable } from '../../report/execution-summary.ts';
import { pendingJson, pendingText, statusJson, statusText } from '../../report/status.ts';
import { frame } from '../../tui/live.ts';
import { Painter } from '../../tui/painter.ts';
import { wantsColor } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags, Program, Wrap } from '../options.ts';
import { followHere, tellAbandoned } from '../terminal/following.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { clock, outputInk, printJson, tellNoRun } from '../terminal/output.ts';
import { openScreen } from '../terminal/screen.ts';

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

interface StatusFlags extends CommonFlags {
  readonly watch?: boolean;
}

async function status(given: string | undefined, flags: StatusFlags): Promise<number> {
  const place = await placeAt(flags.projectDir, NEVER);
  if (!isPlanFolder(given, place)) return showRun(viewRun(place, given), flags);
  const plan = (await readPlan(given, place, {}, NEVER))?.plan;
  if (plan === undefined) return EXIT.usage;
  const view = viewRunOfPlan(place, plan.name);
  if (view !== null) return showRun(view, flags);
  if (flags.json === true) printJson(pendingJson(plan));
  else process.stdout.write(pendingText(plan));
  return EXIT.ok;
}

async function showRun(view: RunView | null, { watch: isWatched, json = false }: StatusFlags) {
  if (view === null) return tellNoRun({ json });
  const { place, run, live, state } = view;
  if (isWatched === true) {
    await watch(place, run, json);
    return EXIT.ok;
  }
  const moment = { now: Date.now(), staleMs: staleAfter(place) };
  const info = { run, live, clock, ink: outputInk(), ...(await activityIn(view, moment, NEVER)) };
  const isTable = state.plan.conventions.summary === 'results' && state.outcome !== null;
  if (json) printJson(statusJson(state, info));
  else if (isTable) process.stdout.write(executionTable(executionResults(state, run)));
  else process.stdout.write(statusText(state, info));
  return EXIT.ok;
}

const FRAME_MS = 200;
const LOOK_LIMIT_MS = 10_000;

/** Follows a run until it ends: a live view on a terminal, lines or NDJSON elsewhere. */
export async function watch(place: Place, run: string, json: boolean): Promise<Followed> {
  const options = { run, before: null, dashboard: false, events: json, quiet: false };
  const isLive = process.stdout.isTTY === true && !json;
  const followed = isLive
    ? await watchLive(place, run)
    : await followHere(place, run, openScreen({ ...options, lines: 'stdout' }).recorded);
  tellAbandoned(followed, run);
  return followed;
}

async function watchLive(place: Place, run: string): Promise<Followed> {
  using painter = new Painter(process.stdout);
  const staleMs = staleAfter(place);
  let lines: readonly string[] = [];
  let isOver = false;
  const followed = followHere(place, run, () => undefined).finally(() => {
    isOver = true;
  });
  for (let last = false; !last; ) {
    last = isOver;
    lines = await currentFrame(place, run, staleMs);
    painter.draw(lines);
    if (!last) await Promise.race([followed, pause(FRAME_MS)]);
  }
  painter.close();
  painter.print(lines);
  return followed;
}

async function currentFrame(
  place: Place,
  run: string,
  staleMs: number,
): Promise<readonly string[]> {
  const view = viewRun(place, run)!;
  const now = view.state.finishedAt ?? Date.now();
  const activity = await activityIn(view, { now, staleMs }, AbortSignal.timeout(LOOK_LIMIT_MS));
  const { columns, rows } = process.stdout; // A terminal may say that it has none.
  const size = { width: columns || 80, height: (rows || 24) - 1 };
  const color = wantsColor(process.env, true);
  return frame({ run, state: view.state, ...size, color, clock, ...activity });
}
