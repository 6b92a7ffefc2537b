/** `landfast spawn`: tasks from the command line become a run. */

import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { text } from 'node:stream/consumers';
import { UserError } from '../../base/errors.ts';
import { spawnPlan, tasksIn } from '../../plan/spawn.ts';
import { adjust } from '../adjust.ts';
import { isCoding } from '../agents.ts';
import { findConfig } from '../config-files.ts';
import { checkHow, type HowToRun } from '../execute.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { startRun } from './run.ts';

export interface SpawnFlags extends HowToRun {
  readonly parallel?: number;
  readonly agent?: string;
  readonly model?: string;
  readonly target?: string;
}

/** Runs the tasks given, those of standard input in the place of `-`. */
export async function spawn(tasks: readonly string[], flags: SpawnFlags): Promise<number> {
  const signal = new AbortController().signal;
  const prompts = await promptsOf(tasks);
  const place = await findPlace(flags.projectDir, signal);
  const { agent, model, target, parallel = flags.maxWorkers } = flags;
  const config = await findConfig(place, signal);
  if (config === null) return EXIT.usage;
  const given = { prompts, agent, model };
  const wanted = spawnPlan({ ...given, config, home: homedir(), taken: new Set() });
  const how = { ...flags, ...(parallel === undefined ? {} : { maxWorkers: parallel }) };
  const plan = adjust(wanted, { ...how, ...(target === undefined ? {} : { target }) }, isCoding);
  checkHow(plan, how);
  const hash = createHash('sha256').update(JSON.stringify(prompts)).digest('hex');
  return startRun({ plan, hash }, place, how, signal);
}

async function promptsOf(tasks: readonly string[]): Promise<readonly string[]> {
  const parts: string[] = [];
  for (const task of tasks) {
    if (task === '-') parts.push(...tasksIn(await text(process.stdin)));
    else parts.push(task);
  }
  if (parts.length === 0) {
    throw new UserError(
      'There is no task to spawn.',
      'landfast spawn "implement auth" "add tests", or a list with one task a line: landfast spawn - < FILE',
    );
  }
  const wrong = parts.findIndex((part) => part.trim() === '' || part.includes('\0'));
  if (wrong === -1) return parts;
  throw new UserError(`Task ${wrong + 1} of ${parts.length} is empty or no text.`);
}
