/** `landfast cancel`: ends a task of a live run, or all of it. */

import { requireLive, requireTasks, runToSteer, send } from '../../app/steer.ts';
import { UserError } from '../../base/errors.ts';
import type { Command } from '../../model/command.ts';
import { isOver } from '../../model/state.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('cancel')
    .argument('[task]', 'the task (default: the whole run)')
    .description('cancel a task or a run; its work is kept')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--json', 'print JSON')
    .action(wrap((task, _, command: Program) => cancel(task, command.optsWithGlobals())));
}

export interface CancelFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly json?: boolean;
}

/** Cancels a task of the live run, or all of it. */
export async function cancel(task: string | undefined, flags: CancelFlags): Promise<number> {
  const steered = runToSteer(
    await placeAt(flags.projectDir, new AbortController().signal),
    flags.run,
  );
  if (steered === null) return tellNoRun(flags);
  const { run, state } = steered;
  requireLive(steered);
  if (task !== undefined) requireTasks(steered, [task]);
  const known = task === undefined ? undefined : state.tasks.get(task);
  if (known !== undefined && isOver(known)) {
    throw new UserError(`Task ${task} has already ended: ${known.status.kind}.`);
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
