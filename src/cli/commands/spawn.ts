/** `landfast spawn`: tasks from the command line become a run. */

import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { planSpawn } from '../../app/spawn.ts';
import { UserError } from '../../base/errors.ts';
import { howToRun, limitsFrom, type Program, positive, type Wrap } from '../options.ts';
import { type HowToRun, startRun } from '../terminal/drive.ts';
import { NEVER, placeAt } from '../terminal/host.ts';

export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('spawn')
    .argument(
      '[tasks...]',
      'what each agent should do; - reads one task per line from standard input',
    )
    .description('run ad hoc tasks, each by an agent of its own')
    .option('-p, --parallel <n>', 'at most this many at a time; all of them run', positive);
  howToRun(described)
    .option('--agent <name>', 'the agent (default: claude)')
    .option('--model <name>', "the agent's model")
    .option('--no-land', 'leave the work of each task on its branch')
    .option('--no-worktree', 'work in the current folder itself, one task at a time')
    .option('--target <branch>', 'publish to this branch instead of the current one')
    .action(wrap((tasks, _, command: Program) => spawn(tasks, command.optsWithGlobals())));
}

interface SpawnFlags extends HowToRun {
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
async function spawn(tasks: readonly string[], flags: SpawnFlags): Promise<number> {
  const prompts = await promptsOf(tasks);
  refuseIdle(flags);
  const place = await placeAt(flags.projectDir, NEVER);
  const { agent, model, land, target, parallel: maxWorkers = flags.maxWorkers } = flags;
  const here = flags.worktree ? null : folderWithin(place.dir, flags.projectDir);
  const limits = limitsFrom({ ...flags, ...(maxWorkers === undefined ? {} : { maxWorkers }) });
  const wish = { prompts, agent, model, land, here, target, limits };
  const planned = await planSpawn(wish, place, NEVER);
  const { workers } = planned.limits;
  const how = { ...flags, ...(workers === undefined ? {} : { maxWorkers: workers }) };
  return startRun(planned, place, how, NEVER);
}

/** In the user's own checkout nothing is committed: there is nothing to land or to publish. */
function refuseIdle({ worktree, land, target }: SpawnFlags): void {
  if (worktree || (land && target === undefined)) return;
  throw new UserError(
    `With --no-worktree nothing is committed, so ${land ? '--target' : '--no-land'} has no effect.`,
    'Leave one of them out.',
  );
}

function folderWithin(root: string, folder: string): string {
  return relative(realpathSync(root), realpathSync(folder)).split(sep).join('/');
}

async function promptsOf(tasks: readonly string[]): Promise<readonly string[]> {
  const parts: string[] = [];
  for (const task of tasks) {
    if (task === '-') parts.push(...tasksIn(await text(process.stdin)));
    else parts.push(task);
  }
  if (parts.length === 0) {
    throw new UserError(
      'No tasks given.',
      'landfast spawn "implement auth" "add tests", or one task per line: landfast spawn - < FILE',
    );
  }
  const wrong = parts.findIndex((part) => part.trim() === '' || part.includes('\0'));
  if (wrong === -1) return parts;
  throw new UserError(`Task ${wrong + 1} of ${parts.length} is empty or not text.`);
}

/** The tasks of a file: one a line. */
export function tasksIn(file: string): readonly string[] {
  return file
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
