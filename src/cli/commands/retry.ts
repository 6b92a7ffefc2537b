/**
 * `landfast retry`: a new chance for tasks. The engine of a live run is asked; a run that nobody
 * drives goes on here, with these tasks and no other failed one.
 */

import { UserError } from '../../base/errors.ts';
import { respond } from '../../engine/commands.ts';
import { jsonText } from '../../report/json.ts';
import type { HowToRun } from '../execute.ts';
import { EXIT } from '../main.ts';
import { requireTasks, runToSteer, send } from '../steer.ts';
import { refuseAtStart, resume } from './resume.ts';

export interface RetryFlags extends HowToRun {
  readonly run?: string;
  readonly fresh?: boolean;
  readonly json?: boolean;
}

/** Tries tasks again. */
export async function retry(tasks: readonly string[], flags: RetryFlags): Promise<number> {
  const steered = await runToSteer(flags.projectDir, flags.run, new AbortController().signal);
  const { run, state, live } = steered;
  requireTasks(steered, tasks);
  const wish = { kind: 'retry', tasks, fresh: flags.fresh === true } as const;
  if (!live) {
    const answer = respond(wish, { ...state, outcome: null, stopping: null });
    if (answer.kind === 'refused') throw new UserError(answer.why);
    const { json, fresh: _fresh, run: _run, ...how } = flags;
    refuseSilence(flags);
    const events = json === true ? { events: true } : {};
    return resume(run, { ...how, ...events }, { source: null, retry: wish });
  }
  refuseAtStart(run, flags);
  await send(steered, wish);
  if (flags.json === true) process.stdout.write(jsonText({ run, tasks, retried: true }));
  else
    console.log(`${tasks.join(', ')}: tried again${state.paused ? ' once the run goes on' : ''}.`);
  return EXIT.ok;
}

/** What a run prints as JSON is printed by its engine. */
function refuseSilence({ json, detach }: RetryFlags): void {
  if (json !== true || detach !== true) return;
  throw new UserError(
    '--detach leaves the run to the background, so --json has nothing to print.',
    'Leave out one of them. `--detach --quiet` prints the id of the run.',
  );
}
