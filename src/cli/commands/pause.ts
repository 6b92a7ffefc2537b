/**
 * `landfast pause`: a live run starts nothing new until `landfast resume`; or some of its tasks stand
 * still until `landfast continue`.
 */

import type { Place } from '../../app/place.ts';

import { requireLive, requireTasks, runToSteer, type Steered, send } from '../../app/steer.ts';
import { UserError } from '../../base/errors.ts';
import { jsonText } from '../../report/json.ts';
import { continueCommand, resumeCommand } from '../../report/remedy.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';

/** Describes the command for the command line and its help. */
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

export interface PauseFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly suspend?: boolean;
  readonly json?: boolean;
}

/** Pauses the live run, or tasks of it. */
export async function pause(names: readonly string[], flags: PauseFlags): Promise<number> {
  const found = await whatToPause(names, flags);
  if (found === null) return tellNoRun(flags);
  const { steered, tasks } = found;
  const { run } = steered;
  requireLive(steered);
  if (tasks.length > 0) return pauseTasks(steered, tasks, flags);
  const suspend = flags.suspend === true;
  await send(steered, { kind: 'pause', suspend });
  if (flags.json === true) {
    process.stdout.write(jsonText({ run, paused: true, suspended: suspend }));
    return EXIT.ok;
  }
  const agents = suspend ? 'its agents are suspended' : 'its running agents continue';
  console.log(`run ${run} is paused: nothing new starts, ${agents}.`);
  console.log(`  Continue: ${resumeCommand(run)}`);
  return EXIT.ok;
}

/** Names are tasks of the run; a single one that is none may be a run. */
async function whatToPause(
  names: readonly string[],
  { projectDir, run }: PauseFlags,
): Promise<{ readonly steered: Steered; readonly tasks: readonly string[] } | null> {
  const { signal } = new AbortController();
  const place = await placeAt(projectDir, signal);
  const steered = runToSteer(place, run);
  if (steered === null) return null;
  const [only] = names;
  const mayBeRun = run === undefined && names.length === 1 && only !== undefined;
  if (mayBeRun && !steered.state.tasks.has(only)) {
    const named = runCalled(place, only);
    if (named !== null) return { steered: named, tasks: [] };
  }
  requireTasks(steered, names);
  return { steered, tasks: names };
}

function runCalled(place: Place, prefix: string): Steered | null {
  try {
    return runToSteer(place, prefix);
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

async function pauseTasks(
  steered: Steered,
  tasks: readonly string[],
  { suspend, json }: PauseFlags,
): Promise<number> {
  if (suspend === true) {
    throw new UserError('A paused task is always halted.', 'Leave out --suspend.');
  }
  await send(steered, { kind: 'pause-tasks', tasks });
  const { run } = steered;
  if (json === true) process.stdout.write(jsonText({ run, tasks, paused: true }));
  else {
    console.log(`${tasks.join(', ')}: paused; running agents are halted, and their time limits.`);
    console.log(`  Continue: ${continueCommand(tasks)}`);
  }
  return EXIT.ok;
}
