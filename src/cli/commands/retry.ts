/**
 * `landfast retry`: a new chance for tasks. A live run is asked; any other is resumed here, with
 * these tasks and no other failed one.
 */

import { mendedIn, requireTasks, send } from '../../app/steer.ts';
import { UserError } from '../../base/errors.ts';
import { howToRun, type Program, type Wrap } from '../options.ts';
import type { HowToRun } from '../terminal/drive.ts';
import { NEVER } from '../terminal/host.ts';
import { steer } from '../terminal/steering.ts';
import { refuseAtStart, takeUp } from './resume.ts';

export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('retry')
    .argument('<tasks...>', 'failed tasks, or tasks that wait for their next attempt')
    .description('retry tasks now, and the tasks that failed because of them')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--fresh', 'start fresh instead of continuing the session and its work; both are kept')
    .option('--note <text>', 'tell the agents of these tasks something')
    .option('--json', 'print JSON');
  howToRun(described).action(
    wrap((tasks, _, command: Program) => retry(tasks, command.optsWithGlobals())),
  );
}

interface RetryFlags extends HowToRun {
  readonly run?: string;
  readonly fresh?: boolean;
  readonly note?: string;
  readonly json?: boolean;
}

function retry(tasks: readonly string[], flags: RetryFlags): Promise<number> {
  const { fresh = false, note, run: _, ...how } = flags;
  return steer(flags, async (view) => {
    requireTasks(view, tasks);
    if (note?.trim() === '') throw new UserError('The note is empty.');
    const told = note === undefined ? {} : { note };
    const command = { kind: 'retry', tasks, fresh, ...told } as const;
    if (!view.live) return await takeUp(view, command, how);
    refuseAtStart(view.run, flags);
    await send(view, { ...command, mended: await mendedIn(view, NEVER) });
    const when = view.state.paused ? ' once the run continues' : '';
    return { json: { tasks, retried: true }, lines: [`${tasks.join(', ')}: tried again${when}.`] };
  });
}
