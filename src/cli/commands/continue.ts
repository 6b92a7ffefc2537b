/** `landfast continue`: paused tasks of a live run proceed, with the same processes. */

import { requireLive, requireTasks, send } from '../../app/steer.ts';
import type { Program, Wrap } from '../options.ts';
import { type SteerFlags, steer } from '../terminal/steering.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('continue')
    .argument('<tasks...>', 'paused tasks')
    .description('end the pause of tasks; `resume` ends the pause of a run')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--json', 'print JSON')
    .action(wrap((tasks, _, command: Program) => continueTasks(tasks, command.optsWithGlobals())));
}

function continueTasks(tasks: readonly string[], flags: SteerFlags): Promise<number> {
  return steer(flags, async (view) => {
    requireTasks(view, tasks);
    requireLive(view);
    await send(view, { kind: 'continue-tasks', tasks });
    return { json: { tasks, paused: false }, lines: [`${tasks.join(', ')}: no longer paused.`] };
  });
}
