/** `landfast cancel`: a wish to the engine of a live run, and its answer. */

import { OperationalError, UserError } from '../../base/errors.ts';
import { awaitAnswer, sendCommand } from '../../journal/commands.ts';
import { openDatabase, openForReading } from '../../journal/database.ts';
import type { Command } from '../../model/command.ts';
import { isOver } from '../../model/state.ts';
import { jsonText } from '../../report/json.ts';
import { isLive, noRun, runNamed } from '../find-run.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { readState } from '../watch-run.ts';

export interface CancelFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly json?: boolean;
}

const PATIENCE_MS = 10_000;

/** Cancels a task of the live run, or all of it. */
export async function cancel(task: string | undefined, flags: CancelFlags): Promise<number> {
  const place = await findPlace(flags.projectDir, new AbortController().signal);
  using reading = openForReading(place.stateDir);
  if (reading === null) throw noRun(flags.run);
  const run = runNamed(reading, flags.run);
  if (!isLive(reading, run)) {
    throw new UserError(`Run ${run} is not live: nothing is running.`, 'landfast runs lists them.');
  }
  const state = readState(reading, run);
  const known = task === undefined ? undefined : state.tasks.get(task);
  if (task !== undefined && known === undefined) {
    throw new UserError(
      `Run ${run} has no task ${task}.`,
      `It has: ${[...state.tasks.keys()].join(', ')}.`,
    );
  }
  if (known !== undefined && isOver(known)) {
    throw new UserError(`Task ${task} is over already: ${known.status.kind}.`);
  }
  using db = openDatabase(place.stateDir);
  const wish: Command =
    task === undefined
      ? { kind: 'stop', mode: 'cancel', why: 'Cancelled by landfast cancel.' }
      : { kind: 'cancel-task', task };
  const id = sendCommand(db, run, wish, Date.now());
  const reply = await awaitAnswer(db, id, AbortSignal.timeout(PATIENCE_MS));
  if (reply.kind !== 'answered' || reply.answer.kind !== 'accepted') {
    throw new OperationalError(`The engine of run ${run} did not answer; nothing was cancelled.`, {
      remedy: 'See whether it still works: landfast status',
    });
  }
  if (flags.json === true)
    process.stdout.write(jsonText({ run, task: task ?? null, cancelled: true }));
  else console.log(`${task ?? `run ${run}`} is being cancelled; its work is kept.`);
  return EXIT.ok;
}
