/** The commands that start a run. */

import { type Command, Option } from 'commander';
import { count, digits, howToRun, list, more, two, type Wrap } from './options.ts';

/** Adds `run`, `spawn` and `land`. */
export function describeStarting(program: Command, wrap: Wrap): void {
  describeRun(program, wrap);
  describeSpawn(program, wrap);
  describeLand(program, wrap);
}

function describeRun(program: Command, wrap: Wrap): void {
  const run = program
    .command('run')
    .argument('[plan]', 'the plan file, of any known format, or a folder with a manifest.json')
    .description('execute a plan: agents, gates, landing, publishing')
    .option('-c, --config <file>', 'the plan, named by an option (default: task_config.yaml)')
    .option('--resume', 'go on with the last run of this plan instead of starting a new one');
  howToRun(run)
    .option('-y, --auto-approve', 'let agents do anything without asking')
    .option('--no-pr', 'do not ask agents to open pull requests')
    .option('-n, --dry-run', 'check the plan, show what would run, and stop')
    .option('--tasks <ids>', 'only these tasks, separated by commas', list)
    .option('--agent <name>', 'this agent for every task that has a coding agent')
    .option('--target <branch>', 'publish to this branch instead of the current one')
    .option('--format <name>', 'read the plan as this format instead of detecting it')
    .option('--no-barriers', 'start a task when what it depends on is there, not wave by wave')
    .addOption(
      new Option('--on-conflict <who>', 'who resolves a conflict').choices(['agent', 'fail']),
    )
    .option('-t, --from-todo <file>', 'the open items of a todo list, instead of a plan')
    .option('-e, --execute', 'run the items of a todo list without asking')
    .option('--yolo', 'the same')
    .option('--split <n>', 'a dispatch plan as two streams, cut after so many batches', digits)
    .option('--streams <n>', 'a dispatch plan as two streams, cut in the middle', two)
    .action(
      wrap(async (plan, options, command: Command) => {
        const flags = { ...options, ...command.optsWithGlobals() };
        (await import('./place.ts')).lookAhead(flags.projectDir, 'settings');
        return (await import('./commands/run.ts')).run(plan, flags);
      }),
    );
}

function describeSpawn(program: Command, wrap: Wrap): void {
  const spawn = program
    .command('spawn')
    .argument('[tasks...]', 'what each agent should do; - reads a list, one task a line')
    .description('run ad hoc tasks, each by an agent of its own')
    .option('-p, --parallel <n>', 'so many at a time; all of them run', count);
  howToRun(spawn)
    .option('--agent <name>', 'the agent (default: claude)')
    .option('--model <name>', "the agent's model")
    .option('--no-land', 'leave the work of each task on its branch')
    .option('--no-worktree', 'work in the current folder itself, one task at a time')
    .option('--target <branch>', 'publish to this branch instead of the current one')
    .action(
      wrap(async (tasks, options, command: Command) => {
        const flags = { ...options, ...command.optsWithGlobals() };
        (await import('./place.ts')).lookAhead(flags.projectDir, 'settings');
        return (await import('./commands/spawn.ts')).spawn(tasks, flags);
      }),
    );
}

function describeLand(program: Command, wrap: Wrap): void {
  const land = program
    .command('land')
    .argument('<branches...>', 'finished branches, yours or as fetched: feature, origin/feature')
    .description('land branches made by anybody: merged in memory, verified, then published')
    .option('--target <branch>', 'land on this branch instead of the current one')
    .option('--gate <name=command>', 'a command that must pass; may be given again', more)
    .addOption(
      new Option('--verify <which>', 'every combination, the last of many, or none').choices([
        'each',
        'batch',
        'off',
      ]),
    )
    .addOption(
      new Option('--strategy <how>', 'how a branch lands').choices(['merge', 'squash', 'rebase']),
    )
    .addOption(
      new Option('--on-conflict <who>', 'who resolves a conflict (default: fail)').choices([
        'agent',
        'fail',
      ]),
    )
    .option('--agent <name>', 'let this agent resolve conflicts')
    .option('--plan <file>', 'land as this plan says: its gates, set-up and limits, not its tasks')
    .option('-n, --dry-run', 'show what would land and what conflicts, and stop');
  howToRun(land).action(
    wrap(async (branches, options, command: Command) => {
      const flags = { ...options, ...command.optsWithGlobals() };
      (await import('./place.ts')).lookAhead(flags.projectDir, 'settings');
      return (await import('./commands/land.ts')).land(branches, flags);
    }),
  );
}
