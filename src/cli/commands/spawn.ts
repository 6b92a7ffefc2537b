/** `landfast spawn`: tasks from the command line become a run. */

import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { relative, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { UserError } from '../../base/errors.ts';
import { branchNames } from '../../git/refs.ts';
import { openForReading } from '../../journal/database.ts';
import { listRuns } from '../../journal/log.ts';
import type { TaskId } from '../../model/plan.ts';
import type { Config } from '../../plan/config/schema.ts';
import { conventionsFor, spawnPlan, tasksIn } from '../../plan/spawn.ts';
import { adjust } from '../adjust.ts';
import { isCoding } from '../agents.ts';
import { findConfig } from '../config-files.ts';
import { checkHow, type HowToRun } from '../execute.ts';
import { EXIT } from '../main.ts';
import { findPlace, type Place } from '../place.ts';
import { readState } from '../watch-run.ts';
import { startRun } from './run.ts';

export interface SpawnFlags extends HowToRun {
  readonly parallel?: number;
  readonly agent?: string;
  readonly model?: string;
  readonly target?: string;
  /** False for `--no-land`. */
  readonly land: boolean;
  /** False for `--no-worktree`. */
  readonly worktree: boolean;
}

/** Runs the tasks given, those of standard input in the place of `-`. */
export async function spawn(tasks: readonly string[], flags: SpawnFlags): Promise<number> {
  const signal = new AbortController().signal;
  const prompts = await promptsOf(tasks);
  refuseIdle(flags);
  const place = await findPlace(flags.projectDir, signal);
  const config = await findConfig(place, signal);
  if (config === null) return EXIT.usage;
  const { agent, model, land, target } = flags;
  const taken = await takenIds(place, config, signal);
  const here = flags.worktree ? null : folderWithin(place.dir, flags.projectDir);
  const wanted = spawnPlan({ prompts, agent, model, land, here, config, home: homedir(), taken });
  const how = { ...flags, ...parallelOf(flags, config) };
  const plan = adjust(wanted, { ...how, ...(target === undefined ? {} : { target }) }, isCoding);
  checkHow(plan, how);
  const hash = createHash('sha256').update(JSON.stringify(prompts)).digest('hex');
  return startRun({ plan, hash }, place, how, signal);
}

/** In the user's own checkout nothing is committed: there is nothing to land or to publish. */
function refuseIdle({ worktree, land, target }: SpawnFlags): void {
  if (worktree || (land && target === undefined)) return;
  throw new UserError(
    `With --no-worktree nothing is committed, so ${land ? '--target' : '--no-land'} has no place.`,
    'Leave one of them out.',
  );
}

function folderWithin(root: string, folder: string): string {
  return relative(realpathSync(root), realpathSync(folder)).split(sep).join('/');
}

function parallelOf(flags: SpawnFlags, config: Config): Pick<HowToRun, 'maxWorkers'> {
  const { parallel = flags.maxWorkers } = flags;
  if (parallel === undefined) return {};
  const most = config.max_parallel ?? parallel;
  if (most < parallel) console.error(`landfast: max_parallel is ${most}: so many run at a time.`);
  return { maxWorkers: Math.min(parallel, most) };
}

/** Without the run in their names, branches and folders of earlier runs would be met again. */
async function takenIds(
  { repository, stateDir }: Place,
  config: Config,
  signal: AbortSignal,
): Promise<ReadonlySet<TaskId>> {
  const { branch_prefix: prefix } = config;
  if (prefix === undefined || repository === null) return new Set();
  const branches = await branchNames(repository.commonDir, `refs/heads/${prefix}/`, signal);
  const { branch } = conventionsFor(prefix);
  using db = openForReading(stateDir);
  const open = db === null ? [] : listRuns(db).filter(({ outcome }) => outcome === null);
  const waiting = open.flatMap(({ run }) => {
    const { plan } = readState(db!, run);
    return plan.conventions.branch === branch ? plan.tasks.map(({ id }) => id) : [];
  });
  return new Set([...branches.map((name) => name.slice(prefix.length + 1)), ...waiting]);
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
