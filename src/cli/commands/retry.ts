/**
 * `landfast retry`: a new chance for tasks. The engine of a live run is asked; a run that nobody
 * drives goes on here, with these tasks and no other failed one.
 */

import { UserError } from '../../base/errors.ts';
import { respond } from '../../engine/commands.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../main.ts';
import { requireTasks, runToSteer, send } from '../steer.ts';
import { resume } from './resume.ts';

export interface RetryFlags {
  readonly projectDir: string;
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
    const how = { projectDir: flags.projectDir, log: true, events: flags.json === true };
    return resume(run, how, { source: null, retry: wish });
  }
  await send(steered, wish);
  if (flags.json === true) process.stdout.write(jsonText({ run, tasks, retried: true }));
  else
    console.log(`${tasks.join(', ')}: tried again${state.paused ? ' once the run goes on' : ''}.`);
  return EXIT.ok;
}
