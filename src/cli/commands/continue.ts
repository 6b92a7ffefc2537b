/** `landfast continue`: paused tasks of a live run proceed, with the same processes. */

import { requireLive, requireTasks, runToSteer, send } from '../../app/steer.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('continue')
    .argument('<tasks...>', 'paused tasks')
    .description('end the pause of tasks; `resume` ends the pause of a run')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--json', 'print JSON')
    .action(wrap((tasks, _, command: Program) => continueTasks(tasks, command.optsWithGlobals())));
}

export interface ContinueFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly json?: boolean;
}

/** Ends the pause of tasks. */
async function continueTasks(tasks: readonly string[], flags: ContinueFlags): Promise<number> {
  const steered = runToSteer(
    await placeAt(flags.projectDir, new AbortController().signal),
    flags.run,
  );
  if (steered === null) return tellNoRun(flags);
  requireTasks(steered, tasks);
  requireLive(steered);
  await send(steered, { kind: 'continue-tasks', tasks });
  const { run } = steered;
  if (flags.json === true) process.stdout.write(jsonText({ run, tasks, paused: false }));
  else console.log(`${tasks.join(', ')}: no longer paused.`);
  return EXIT.ok;
}
