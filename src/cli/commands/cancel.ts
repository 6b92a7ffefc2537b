/** `landfast cancel`: ends a task of a live run, or all of it. */

import { UserError } from '../../base/errors.ts';
import type { Command } from '../../model/command.ts';
import { isOver } from '../../model/state.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../main.ts';
import { requireLive, requireTasks, runToSteer, send } from '../steer.ts';

export interface CancelFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly json?: boolean;
}

/** Cancels a task of the live run, or all of it. */
export async function cancel(task: string | undefined, flags: CancelFlags): Promise<number> {
  const steered = await runToSteer(flags.projectDir, flags.run, new AbortController().signal);
  const { run, state } = steered;
  requireLive(steered);
  if (task !== undefined) requireTasks(steered, [task]);
  const known = task === undefined ? undefined : state.tasks.get(task);
  if (known !== undefined && isOver(known)) {
    throw new UserError(`Task ${task} is over already: ${known.status.kind}.`);
  }
  const wish: Command =
    task === undefined
      ? { kind: 'stop', mode: 'cancel', why: 'Cancelled by landfast cancel.' }
      : { kind: 'cancel-task', task };
  await send(steered, wish);
  if (flags.json === true)
    process.stdout.write(jsonText({ run, task: task ?? null, cancelled: true }));
  else console.log(`${task ?? `run ${run}`} is being cancelled; its work is kept.`);
  return EXIT.ok;
}
