/**
 * `landfast resume`: continues a run. A live, paused one is asked to continue; any other continues
 * here, from its journal alone or with an edited plan.
 */

import { closeAgain } from '../../app/execute.ts';
import { readPlan } from '../../app/load-plan.ts';
import {
  type Continuation,
  editRun,
  type LeftRun,
  leftRun,
  requireGranted,
  resumedRun,
} from '../../app/resume-run.ts';
import type { RunView } from '../../app/runs.ts';
import { send } from '../../app/steer.ts';
import { UserError } from '../../base/errors.ts';
import type { ReopeningCommand } from '../../model/command.ts';
import { differenceLines } from '../../report/plan-text.ts';
import { EXIT } from '../exit.ts';
import { howToRun, optionNames, type Program, type Wrap } from '../options.ts';
import { checkHow, driveRun, type HowToRun, optionsOf } from '../terminal/drive.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { printJson, tellNoRun } from '../terminal/output.ts';

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

interface ResumeFlags extends HowToRun {
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
  continuation: Continuation = { source: null, retry: null },
): Promise<number> {
  const left = leftRun(await placeAt(how.projectDir, NEVER), prefix);
  if (left === null) return tellNoRun(how);
  const { run, before } = left;
  if (before.paused !== null && before.outcome === null && left.live) return goOn(left, how);
  if (how.json === true) {
    throw new UserError(`Run ${run} is not paused.`, 'For its facts as JSON: resume --events.');
  }
  if (how.plan !== undefined) return await resumeEdited(left, how.plan, how);
  if (how.dryRun === true) throw new UserError('--dry-run needs --plan FILE.');
  const options = optionsOf(how);
  if (before.outcome === 'succeeded' && continuation.retry?.kind !== 'approve') {
    await closeAgain({ ...left, plan: before.plan, started: null, options });
    console.error(`landfast: run ${run} has succeeded; there is nothing left to do.`);
    return EXIT.ok;
  }
  checkHow(how);
  return await driveRun(resumedRun(left, options, continuation), how);
}

/** Takes up a run without an engine for one command, which is checked first. */
export async function takeUp(
  { run, state }: RunView,
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
async function resumeEdited(left: LeftRun, path: string, flags: ResumeFlags): Promise<number> {
  const { place, run } = left;
  const loaded = await readPlan(path, place, {}, NEVER);
  if (loaded === null) return EXIT.ok;
  const { plan: _, dryRun, ...how } = flags;
  const options = optionsOf(how);
  const edited = await editRun(left, loaded, options, NEVER);
  const { isSame, difference } = edited;
  console.error(`landfast: the plan of run ${run} ${isSame ? 'has not changed.' : 'changes:'}`);
  const lines = isSame ? [] : differenceLines(left.before, difference);
  for (const line of lines) console.error(`  ${line}`);
  if (dryRun === true) return EXIT.ok;
  if (isSame) return await resume(run, how, { source: loaded.plan, retry: null });
  checkHow(how);
  return await driveRun(resumedRun(left, options, { source: null, retry: null, edited }), how);
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
  const names = optionNames(given);
  throw new UserError(
    `Run ${run} is live: ${names.join(', ')} cannot be changed now.`,
    'Leave it out.',
  );
}

/** Ends the pause of a live run: the same engine, the same processes. */
async function goOn(left: LeftRun, how: ResumeFlags): Promise<number> {
  const { run } = left;
  refuseAtStart(run, how);
  await send(left, { kind: 'continue' });
  if (how.json === true) printJson({ run, paused: false });
  else console.log(`run ${run} continues.`);
  return EXIT.ok;
}
