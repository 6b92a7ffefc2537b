/** `landfast cancel`: ends a task of a live run, or all of it. */

import { requireLive, requireTasks, send } from '../../app/steer.ts';
import { UserError } from '../../base/errors.ts';
import type { Command } from '../../model/command.ts';
import { isOver } from '../../model/state.ts';
import type { Program, Wrap } from '../options.ts';
import { type SteerFlags, steer } from '../terminal/steering.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('cancel')
    .argument('[task]', 'the task (default: the whole run)')
    .description('cancel a task or a run; its work is kept')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--json', 'print JSON')
    .action(wrap((task, _, command: Program) => cancel(task, command.optsWithGlobals())));
}

function cancel(task: string | undefined, flags: SteerFlags): Promise<number> {
  return steer(flags, async (view) => {
    const { run, state } = view;
    requireLive(view);
    if (task !== undefined) requireTasks(view, [task]);
    const known = task === undefined ? undefined : state.tasks.get(task);
    if (known !== undefined && isOver(known)) {
      throw new UserError(`Task ${task} has already ended: ${known.status.kind}.`);
    }
    const wish: Command =
      task === undefined
        ? { kind: 'stop', mode: 'cancel', why: 'Cancelled by landfast cancel.' }
        : { kind: 'cancel-task', task };
    await send(view, wish);
    const lines = [`${task ?? `run ${run}`} is being cancelled; its work is kept.`];
    return { json: { task: task ?? null, cancelled: true }, lines };
  });
}
