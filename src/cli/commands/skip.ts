/** `landfast skip`: tasks of a live run are given up, for good or as if they were done. */

import { requireLive, requireTasks, runToSteer, send } from '../../app/steer.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';

/** Describes the command for the command line and its help. */
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

export interface SkipFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly satisfied?: boolean;
  readonly json?: boolean;
}

/** Gives tasks up. */
export async function skip(tasks: readonly string[], flags: SkipFlags): Promise<number> {
  const steered = runToSteer(
    await placeAt(flags.projectDir, new AbortController().signal),
    flags.run,
  );
  if (steered === null) return tellNoRun(flags);
  const { run } = steered;
  requireTasks(steered, tasks);
  requireLive(steered);
  const satisfied = flags.satisfied === true;
  await send(steered, { kind: 'skip', tasks, satisfied });
  if (flags.json === true) {
    process.stdout.write(jsonText({ run, tasks, skipped: true, satisfied }));
    return EXIT.ok;
  }
  const rest = satisfied ? 'dependent tasks continue' : 'dependent tasks are skipped too';
  console.log(`${tasks.join(', ')}: given up, work is kept; ${rest}.`);
  return EXIT.ok;
}
