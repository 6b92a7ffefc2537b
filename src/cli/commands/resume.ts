/**
 * `landfast resume`: go on with a run. One that is live and paused is told to go on; one that nobody
 * drives goes on here, from its journal alone, or with an edited plan.
 */

import { findConfig } from '../../app/config-files.ts';
import { checkExecution, closeAgain } from '../../app/execute.ts';
import { isLive, runNamed } from '../../app/find-run.ts';
import { asksGit, loadPlan } from '../../app/load-plan.ts';
import type { Place } from '../../app/place.ts';
import {
  type Continuation,
  editedRun,
  type LeftRun,
  requireGranted,
  resumedRun,
} from '../../app/resume-run.ts';
import { type Steered, send } from '../../app/steer.ts';
import { UserError } from '../../base/errors.ts';
import { openDatabase, openForReading } from '../../journal/database.ts';
import { readEntries } from '../../journal/journal.ts';
import type { ReopeningCommand } from '../../model/command.ts';
import type { PlanDifference } from '../../model/event.ts';
import { fold } from '../../model/fold.ts';
import type { RunState } from '../../model/state.ts';
import { jsonText } from '../../report/json.ts';
import { differenceLines } from '../../report/plan-text.ts';
import { isSamePlan } from '../../schedule/replan.ts';
import { EXIT } from '../exit.ts';
import { howToRun, type Program, type Wrap } from '../options.ts';
import { checkHow, driveRun, type HowToRun, optionsOf } from '../terminal/drive.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('resume')
    .argument('[run]', 'run id or prefix (default: the live run, else the latest)')
    .description('continue a run that is paused, was interrupted or has failed tasks')
    .option('--plan <file>', 'continue with this edited plan, after showing the differences')
    .option('-n, --dry-run', 'with --plan: only show the differences')
    .option('--json', 'print JSON (live runs only)');
  howToRun(described).action(
    wrap((run, _, command: Program) => resume(run, command.optsWithGlobals())),
  );
}

export interface ResumeFlags extends HowToRun {
  readonly json?: boolean;
  /** The file of an edited plan. */
  readonly plan?: string;
  /** Only show how that differs. */
  readonly dryRun?: boolean;
}

/** Resumes the run named, or the newest. */
export async function resume(
  prefix: string | undefined,
  how: ResumeFlags,
  { source, retry }: Continuation = { source: null, retry: null },
): Promise<number> {
  const place = await placeAt(how.projectDir, new AbortController().signal);
  const run = runToResume(place, prefix);
  if (run === null) return tellNoRun(how);
  using db = openDatabase(place.stateDir);
  const before = fold(readEntries(db, run, 0));
  if (before.paused !== null && before.outcome === null && isLive(db, run)) {
    return goOn({ place, run, state: before, live: true }, how);
  }
  if (how.json === true) {
    throw new UserError(`Run ${run} is not paused.`, 'For its facts as JSON: resume --events.');
  }
  if (how.plan !== undefined) return await resumeEdited({ place, db, run, before }, how.plan, how);
  if (how.dryRun === true) throw new UserError('--dry-run needs --plan FILE.');
  const left = { place, db, run, before };
  const options = optionsOf(how);
  if (before.outcome === 'succeeded' && retry?.kind !== 'approve') {
    await closeAgain({ ...left, plan: before.plan, started: null, options });
    console.error(`landfast: run ${run} has succeeded; there is nothing left to do.`);
    return EXIT.ok;
  }
  checkHow(how);
  return await driveRun(resumedRun(left, options, { source, retry }), how);
}

/** Takes up a run without an engine for one command, which is checked first. */
export async function takeUp(
  { run, state }: Steered,
  command: ReopeningCommand,
  flags: HowToRun & { readonly json?: boolean },
): Promise<number> {
  requireGranted(command, state);
  const { json, ...how } = flags;
  if (json === true && how.detach === true) {
    throw new UserError(
      '--detach leaves the run to the background, so --json has nothing to print.',
      'Leave out one of them. `--detach --quiet` prints the id of the run.',
    );
  }
  const events = json === true ? { events: true } : {};
  return resume(run, { ...how, ...events }, { source: null, retry: command });
}

/** Goes on with an edited plan: how it differs is shown first. */
async function resumeEdited(left: LeftRun, path: string, how: ResumeFlags): Promise<number> {
  const { place, run, before } = left;
  const { signal } = new AbortController();
  const { dir: root, host } = place;
  const config = await findConfig(place, signal, { asksGit: asksGit(path, null, host) });
  const loaded = loadPlan(path, { root, host, format: null, config });
  if (loaded === null) return EXIT.ok;
  const { plan: _, dryRun, ...rest } = how;
  const { execution, difference } = await editedRun(left, loaded, optionsOf(rest), signal);
  tellDifference(before, difference, run);
  if (dryRun === true) return EXIT.ok;
  if (isSamePlan(difference)) {
    return await resume(run, rest, { source: loaded.plan, retry: null });
  }
  checkHow(rest);
  checkExecution(execution.plan, execution.options, place);
  return await driveRun(execution, rest);
}

function tellDifference(before: RunState, difference: PlanDifference, run: string): void {
  if (isSamePlan(difference)) {
    return console.error(`landfast: the plan of run ${run} has not changed.`);
  }
  console.error(`landfast: the plan of run ${run} changes:`);
  for (const line of differenceLines(before, difference)) console.error(`  ${line}`);
}

/** Only read: where nothing has run yet, nothing is made either. */
function runToResume(place: Place, prefix: string | undefined): string | null {
  using db = openForReading(place.stateDir);
  return runNamed(db, prefix, place);
}

/** Options that only an engine that is about to start can follow. */
const AT_START = [
  'plan',
  'dryRun',
  'claudeExe',
  'keepWorktrees',
  'report',
  'dashboard',
  'events',
  'logDir',
  'profile',
  'budget',
  'maxWorkers',
  'sequential',
  'disk',
  'diskFree',
  'memoryPerAttempt',
  'load',
] as const;

/** Refuses options that the engine of a live run cannot follow any more. */
export function refuseAtStart(run: string, how: Omit<ResumeFlags, 'json'>): void {
  const given = AT_START.filter((key) => how[key] !== undefined);
  if (given.length === 0) return;
  const names = given.map((key) => `--${key.replace(/[A-Z]/g, (x) => `-${x.toLowerCase()}`)}`);
  throw new UserError(
    `Run ${run} is live: ${names.join(', ')} cannot be changed now.`,
    'Leave it out.',
  );
}

/** Ends the pause of a live run: the same engine, the same processes. */
async function goOn(steered: Steered, how: ResumeFlags): Promise<number> {
  refuseAtStart(steered.run, how);
  await send(steered, { kind: 'continue' });
  const { run } = steered;
  if (how.json === true) process.stdout.write(jsonText({ run, paused: false }));
  else console.log(`run ${run} continues.`);
  return EXIT.ok;
}
