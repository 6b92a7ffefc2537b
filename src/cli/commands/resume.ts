/**
 * `landfast resume`: go on with a run. One that is live and paused is told to go on; one that nobody
 * drives goes on here, from its journal alone.
 */

import { UserError } from '../../base/errors.ts';
import { openDatabase } from '../../journal/database.ts';
import { readEntries } from '../../journal/log.ts';
import type { Command } from '../../model/command.ts';
import { fold } from '../../model/fold.ts';
import type { Plan } from '../../model/plan.ts';
import { jsonText } from '../../report/json.ts';
import { checkHow, closeAgain, execute, type HowToRun } from '../execute.ts';
import { isLive, runNamed } from '../find-run.ts';
import { limitsFrom } from '../limits.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { withSecrets } from '../secrets.ts';
import { type Steered, send } from '../steer.ts';

export interface ResumeFlags extends HowToRun {
  readonly json?: boolean;
}

/** What a resumed run goes on with. */
export interface GoingOn {
  /** The plan as its file has it now, with the secrets that a journal does not hold. */
  readonly source: Plan | null;
  /** The only tasks that get a new chance; null for all that have failed. */
  readonly retry: (Command & { kind: 'retry' }) | null;
}

/** Resumes the run named, or the newest. */
export async function resume(
  prefix: string | undefined,
  how: ResumeFlags,
  { source, retry }: GoingOn = { source: null, retry: null },
): Promise<number> {
  const place = await findPlace(how.projectDir, new AbortController().signal);
  using db = openDatabase(place.stateDir);
  const run = runNamed(db, prefix);
  const before = fold(readEntries(db, run, 0));
  if (before.paused !== null && before.outcome === null && isLive(db, run)) {
    return goOn({ place, run, state: before, live: true }, how);
  }
  if (how.json === true) {
    throw new UserError(`Run ${run} is not paused.`, 'For its facts as JSON: resume --events.');
  }
  if (before.outcome === 'succeeded') {
    await closeAgain({ place, db, run, plan: before.plan, started: null, before, how });
    console.error(`landfast: run ${run} has succeeded; there is nothing left to do.`);
    return EXIT.ok;
  }
  const old = withSecrets(before.plan, source, process.env);
  const plan = { ...old, limits: { ...old.limits, ...limitsFrom(how) } };
  checkHow(plan, how);
  return await execute({ place, db, run, plan, started: null, before, how, retry });
}

/** Options that only an engine that is about to start can follow. */
const AT_START = [
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
export function refuseAtStart(run: string, how: HowToRun): void {
  const given = AT_START.filter((key) => how[key] !== undefined);
  if (given.length === 0) return;
  const names = given.map((key) => `--${key.replace(/[A-Z]/g, (x) => `-${x.toLowerCase()}`)}`);
  throw new UserError(
    `Run ${run} is live and goes on as it was started, without ${names.join(', ')}.`,
    'Leave it out.',
  );
}

/** Ends the pause of a live run: the same engine, the same processes. */
async function goOn(steered: Steered, how: ResumeFlags): Promise<number> {
  refuseAtStart(steered.run, how);
  await send(steered, { kind: 'continue' });
  const { run } = steered;
  if (how.json === true) process.stdout.write(jsonText({ run, paused: false }));
  else console.log(`run ${run} goes on.`);
  return EXIT.ok;
}
