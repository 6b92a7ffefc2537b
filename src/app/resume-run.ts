/** A run that no engine drives, taken up again: with its own plan, or with an edited one. */

import { UserError } from '../base/errors.ts';
import { respond } from '../engine/commands.ts';
import type { Database } from '../journal/database.ts';
import type { ReopeningCommand } from '../model/command.ts';
import type { PlanDifference } from '../model/event.ts';
import type { Plan } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { shellWord } from '../report/sanitize.ts';
import { replan } from '../schedule/replan.ts';
import { agentsKnown, requireAbilities } from './agents.ts';
import { checkExecution, type Execution, type RunOptions } from './execute.ts';
import { isLive } from './find-run.ts';
import type { LoadedPlan } from './load-plan.ts';
import type { Place } from './place.ts';
import { withKnownRemote } from './remote-base.ts';
import { withoutSecrets, withSecrets } from './secrets.ts';

/** A run with its journal, as it was left. */
export interface LeftRun {
  readonly place: Place;
  readonly db: Database;
  readonly run: string;
  readonly before: RunState;
}

/** What a resumed run continues with. */
export interface Continuation {
  /** The plan as its file has it now, with the secrets that a journal does not hold. */
  readonly source: Plan | null;
  /** What the run is taken up for; null to give all failed tasks a new chance. */
  readonly retry: ReopeningCommand | null;
}

/** The run, ready to be executed further with the plan it has. */
export function resumedRun(
  left: LeftRun,
  options: RunOptions,
  { source, retry }: Continuation,
): Execution {
  const { place, before } = left;
  const old = withSecrets(before.plan, source, place.host);
  const plan = { ...old, limits: { ...old.limits, ...options.limits } };
  checkExecution(plan, options, place);
  return { ...left, plan, started: null, options, retry };
}

/** The run with an edited plan. */
export interface EditedRun {
  readonly execution: Execution;
  readonly difference: PlanDifference;
}

/** The run, ready to be executed further with an edited plan; how that differs is told. */
export async function editedRun(
  left: LeftRun,
  loaded: Pick<LoadedPlan, 'plan' | 'hash'>,
  options: RunOptions,
  signal: AbortSignal,
): Promise<EditedRun> {
  const { place, db, run, before } = left;
  if (isLive(db, run)) {
    const remedy = `End it first, its work is kept: landfast cancel --run ${shellWord(run)}`;
    throw new UserError(`Run ${run} is live and keeps its plan.`, remedy);
  }
  const known = await withKnownRemote(loaded.plan, place, signal);
  const wanted = { ...known, limits: { ...known.limits, ...options.limits } };
  const next = { plan: withoutSecrets(wanted), hash: loaded.hash };
  const [told, own] = [replan(before, next.plan), replan(before, wanted)];
  if (told.kind === 'refused') throw new UserError(told.why, told.remedy);
  if (own.kind === 'refused') throw new UserError(own.why, own.remedy);
  if (wanted.target !== undefined && wanted.target !== before.target) {
    place.host.warn(`The run keeps its target, ${before.target}.`);
  }
  requireAbilities(own.plan, place.host);
  const execution = { ...left, plan: own.plan, started: null, options, next };
  return { execution, difference: told.difference };
}

/** Refuses a command for a run without an engine that its engine would refuse. */
export function requireGranted(command: ReopeningCommand, state: RunState): void {
  const answer = respond(command, { ...state, outcome: null, stopping: null }, agentsKnown);
  if (answer.kind === 'refused') throw new UserError(answer.why);
}
