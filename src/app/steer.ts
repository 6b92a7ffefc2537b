/**
 * A wish to the engine of a live run, and its answer. What is known to be wrong is said before
 * anything is sent; the engine's refusal is shown as it is, and nothing was changed then.
 */

import { closest } from '../base/closest.ts';
import { OperationalError, UserError } from '../base/errors.ts';
import { awaitAnswer, sendCommand } from '../journal/commands.ts';
import { openDatabase } from '../journal/database.ts';
import { mendedWork } from '../merge/run-branch.ts';
import type { Command } from '../model/command.ts';
import type { MendedWork } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { resumeCommand } from '../report/remedy.ts';
import type { RunView } from './runs.ts';

const PATIENCE_MS = 10_000;

/** Refuses names that the run does not have, each with what was probably meant. */
export function requireTasks({ run, state }: RunView, ids: readonly TaskId[]): void {
  const unknown = ids.filter((id) => !state.tasks.has(id));
  if (unknown.length === 0) return;
  const guesses = unknown.flatMap((id) => closest(id, state.tasks.keys()) ?? []);
  const names = [...state.tasks.keys()];
  const shown = names.length > 20 ? `${names.slice(0, 20).join(', ')}, …` : names.join(', ');
  throw new UserError(
    `Run ${run} has no task ${unknown.join(', ')}.`,
    guesses.length > 0 ? `Did you mean ${guesses.join(', ')}?` : `It has: ${shown}.`,
  );
}

export function requireLive({ run, live, state }: RunView): void {
  if (live) return;
  const remedy =
    state.outcome === 'succeeded'
      ? 'landfast runs lists them.'
      : `To resume it: ${resumeCommand(run)}`;
  throw new UserError(`Run ${run} is not live: nothing is running.`, remedy);
}

/** Sends the wish and waits until the engine has granted it. */
export async function send(
  { place, run }: Pick<RunView, 'place' | 'run'>,
  command: Command,
): Promise<void> {
  using db = openDatabase(place.stateDir);
  const id = sendCommand(db, run, command, Date.now());
  const reply = await awaitAnswer(db, id, AbortSignal.timeout(PATIENCE_MS));
  if (reply.kind === 'answered' && reply.answer.kind === 'refused') {
    throw new UserError(reply.answer.why, 'landfast status shows the run as it stands.');
  }
  if (reply.kind === 'answered') return;
  const what = reply.kind === 'unknown' ? 'it may have taken effect' : 'nothing was changed';
  throw new OperationalError(`The engine of run ${run} did not answer; ${what}.`, {
    remedy: 'Check whether it is still running: landfast status',
  });
}

/** What people have committed to branches of tasks; an engine that starts looks itself. */
export async function mendedIn(
  { place, run, state }: RunView,
  signal: AbortSignal,
): Promise<readonly MendedWork[]> {
  const { repository } = place;
  return repository === null
    ? []
    : mendedWork({ repository, run, plan: state.plan }, state, signal);
}
