/**
 * `landfast pause`: a live run starts nothing new until `landfast resume`; or some of its tasks stand
 * still until `landfast continue`.
 */

import { type RunView, viewRun } from '../../app/runs.ts';
import { requireLive, requireTasks, send } from '../../app/steer.ts';
import { UserError } from '../../base/errors.ts';
import { continueCommand, resumeCommand } from '../../report/remedy.ts';
import type { Program, Wrap } from '../options.ts';
import { type Granted, type SteerFlags, steer } from '../terminal/steering.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('pause')
    .argument('[names...]', 'tasks to pause; or a run id or prefix, to pause all of it')
    .description('start nothing new in a live run until it is resumed, or pause tasks')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--suspend', 'also suspend running agents; resume continues them')
    .option('--json', 'print JSON')
    .action(wrap((names, _, command: Program) => pause(names, command.optsWithGlobals())));
}

interface PauseFlags extends SteerFlags {
  readonly suspend?: boolean;
}

function pause(names: readonly string[], flags: PauseFlags): Promise<number> {
  const { suspend = false } = flags;
  return steer(flags, async (found) => {
    const view = runMeant(found, names, flags);
    const tasks = view === found ? names : [];
    requireTasks(view, tasks);
    requireLive(view);
    if (tasks.length > 0) return await pauseTasks(view, tasks, suspend);
    await send(view, { kind: 'pause', suspend });
    const { run } = view;
    const agents = suspend ? 'its agents are suspended' : 'its running agents continue';
    return {
      json: { run, paused: true, suspended: suspend },
      lines: [
        `run ${run} is paused: nothing new starts, ${agents}.`,
        `  Continue: ${resumeCommand(run)}`,
      ],
    };
  });
}

/** Names are tasks of the run; a single one that is none may be a run. */
function runMeant(found: RunView, names: readonly string[], { run }: PauseFlags): RunView {
  const [only] = names;
  const mayBeRun = run === undefined && names.length === 1 && only !== undefined;
  if (!mayBeRun || found.state.tasks.has(only)) return found;
  try {
    return viewRun(found.place, only) ?? found;
  } catch (error) {
    if (error instanceof UserError) return found;
    throw error;
  }
}

async function pauseTasks(
  view: RunView,
  tasks: readonly string[],
  suspend: boolean,
): Promise<Granted> {
  if (suspend) throw new UserError('A paused task is always halted.', 'Leave out --suspend.');
  await send(view, { kind: 'pause-tasks', tasks });
  return {
    json: { tasks, paused: true },
    lines: [
      `${tasks.join(', ')}: paused; running agents are halted, and their time limits.`,
      `  Continue: ${continueCommand(tasks)}`,
    ],
  };
}
