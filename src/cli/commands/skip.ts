/** `landfast skip`: tasks of a live run are given up, for good or as if they were done. */

import { requireLive, requireTasks, send } from '../../app/steer.ts';
import type { Program, Wrap } from '../options.ts';
import { type SteerFlags, steer } from '../terminal/steering.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('skip')
    .argument('<tasks...>', 'tasks that have not succeeded')
    .description('give up tasks of a live run; their work is kept')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--satisfied', 'let dependent tasks continue as if these had succeeded')
    .option('--json', 'print JSON')
    .action(wrap((tasks, _, command: Program) => skip(tasks, command.optsWithGlobals())));
}

interface SkipFlags extends SteerFlags {
  readonly satisfied?: boolean;
}

function skip(tasks: readonly string[], flags: SkipFlags): Promise<number> {
  const { satisfied = false } = flags;
  return steer(flags, async (view) => {
    requireTasks(view, tasks);
    requireLive(view);
    await send(view, { kind: 'skip', tasks, satisfied });
    const rest = satisfied ? 'dependent tasks continue' : 'dependent tasks are skipped too';
    const lines = [`${tasks.join(', ')}: given up, work is kept; ${rest}.`];
    return { json: { tasks, skipped: true, satisfied }, lines };
  });
}
