/** `landfast skip`: tasks of a live run are given up, for good or as if they were done. */

import { jsonText } from '../../report/json.ts';
import { EXIT } from '../main.ts';
import { requireLive, requireTasks, runToSteer, send } from '../steer.ts';

export interface SkipFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly satisfied?: boolean;
  readonly json?: boolean;
}

/** Gives tasks up. */
export async function skip(tasks: readonly string[], flags: SkipFlags): Promise<number> {
  const steered = await runToSteer(flags.projectDir, flags.run, new AbortController().signal);
  const { run } = steered;
  requireTasks(steered, tasks);
  requireLive(steered);
  const satisfied = flags.satisfied === true;
  await send(steered, { kind: 'skip', tasks, satisfied });
  if (flags.json === true) {
    process.stdout.write(jsonText({ run, tasks, skipped: true, satisfied }));
    return EXIT.ok;
  }
  const rest = satisfied ? 'what needs them goes on' : 'what needs them is skipped too';
  console.log(`${tasks.join(', ')}: given up, work is kept; ${rest}.`);
  return EXIT.ok;
}
