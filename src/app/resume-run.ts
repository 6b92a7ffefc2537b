/** A run that no engine drives, taken up again: with its own plan, or with an edited one. */

import { UserError } from '../base/errors.ts';
import { respond } from '../engine/commands.ts';
import { openDatabase, openForReading } from '../journal/database.ts';
import { readEntries } from '../journal/journal.ts';
import type { ReopeningCommand } from '../model/command.ts';
import type { PlanDifference } from '../model/event.ts';
import { fold } from '../model/fold.ts';
import type { Plan } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { shellWord } from '../report/sanitize.ts';
import { isSamePlan, replan } from '../schedule/replan.ts';
import { agentsKnown, requireAbilities } from './agents.ts';
import { checkExecution, type Execution, type RunOptions } from './execute.ts';
import type { LoadedPlan } from './load-plan.ts';
import type { Place } from './place.ts';
import { isLive, runNamed } from './runs.ts';
import { withoutSecrets, withSecrets } from './secrets.ts';
import { withKnownRemote } from './target.ts';

/** A run as its last engine has left it. */
export interface LeftRun {
  readonly place: Place;
  readonly run: string;
  readonly before: RunState;
  /** Whether an engine drives it already. */
  readonly live: boolean;
}

export interface Continuation {
  /** The plan as its file has it now, with the secrets that a journal does not hold. */
  readonly source: Plan | null;
  /** What the run is taken up for; null to give all failed tasks a new chance. */
  readonly retry: ReopeningCommand | null;
  readonly edited?: EditedRun;
}

/** The run to take up again; null where none is named and nothing has run yet. */
export function leftRun(place: Place, prefix: string | undefined): LeftRun | null {
  using db = openForReading(place.stateDir);
  const run = runNamed(db, prefix, place);
  if (db === null || run === null) return null;
  return { place, run, before: fold(readEntries(db, run, 0)), live: isLive(db, run) };
}

/** The run, ready to be executed further with the plan it has, or with an edited one. */
export function resumedRun(
  { place, run, before }: LeftRun,
  options: RunOptions,
  { source, retry, edited }: Continuation,
): Execution {
  const plan = edited?.plan ?? limited(withSecrets(before.plan, source, place.host), options);
  checkExecution(plan, options, place);
  const db = openDatabase(place.stateDir);
  const next = edited?.next ?? null;
  return { place, db, run, before, plan, started: null, options, retry, next };
}

function limited(plan: Plan, { limits }: RunOptions): Plan {
  return { ...plan, limits: { ...plan.limits, ...limits } };
}

/** The plan of a run after an edit, and how it differs from what the run has. */
export interface EditedRun {
  readonly plan: Plan;
  readonly next: NonNullable<Execution['next']>;
  readonly difference: PlanDifference;
  readonly isSame: boolean;
}

/** Brings an edited plan to a run; refuses what cannot be changed any more. */
export async function editRun(
  { place, run, before, live }: LeftRun,
  loaded: Pick<LoadedPlan, 'plan' | 'hash'>,
  options: RunOptions,
  signal: AbortSignal,
): Promise<EditedRun> {
  if (live) {
    const remedy = `End it first, its work is kept: landfast cancel --run ${shellWord(run)}`;
    throw new UserError(`Run ${run} is live and keeps its plan.`, remedy);
  }
  const wanted = limited(await withKnownRemote(loaded.plan, place, signal), options);
  const next = { plan: withoutSecrets(wanted), hash: loaded.hash };
  const [told, own] = [replan(before, next.plan), replan(before, wanted)];
  if (told.kind === 'refused') throw new UserError(told.why, told.remedy);
  if (own.kind === 'refused') throw new UserError(own.why, own.remedy);
  if (wanted.target !== undefined && wanted.target !== before.target) {
    place.host.warn(`The run keeps its target, ${before.target}.`);
  }
  requireAbilities(own.plan, place.host);
  const { difference } = told;
  return { plan: own.plan, next, difference, isSame: isSamePlan(difference) };
}

/** Refuses a command for a run without an engine that its engine would refuse. */
export function requireGranted(command: ReopeningCommand, state: RunState): void {
  const answer = respond(command, { ...state, outcome: null, stopping: null }, agentsKnown);
  if (answer.kind === 'refused') throw new UserError(answer.why);
}
