/**
 * The command line: what can be said, and which file answers. The composition root begins here.
 *
 *   C1. Commands are loaded when they are called: `--help` and `--version` load none of them.
 *   C2. An error of the user's or the world's is one line and a way out, never a stack trace.
 */

import { Command, CommanderError, Option } from 'commander';
import { OperationalError, UserError } from '../base/errors.ts';
import { isExecuting } from './executing.ts';
import { count, digits, howToRun, list, two, type Wrap } from './options.ts';
import { writtenOut } from './prefixes.ts';
import { describeSteering } from './steering.ts';

/** Exit codes (docs: `landfast --help`). */
export const EXIT = { ok: 0, failed: 1, usage: 2, world: 3, bug: 70 } as const;

/** Runs the program as a process. */
export async function start(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', brokenPipe);
  process.exitCode = await main(process.argv.slice(2));
}

/**
 * Whoever read our output is gone: `| head`, or a terminal that was closed. A run goes on without
 * it, and says by its exit code how it went; whatever only prints is over.
 */
function brokenPipe(): void {
  if (!isExecuting()) process.exit(EXIT.ok);
}

/** Runs one command line and answers with its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const program = describe((command) => async (...given: unknown[]) => {
    code = await command(...given);
  });
  try {
    if (args.length === 0) {
      program.outputHelp({ error: true });
      return EXIT.usage;
    }
    await program.parseAsync(writtenOut(program, args), { from: 'user' });
    return code;
  } catch (error) {
    return explain(error);
  }
}

function describe(wrap: Wrap): Command {
  const program = new Command('landfast')
    .description('Runs many coding agents in parallel on one git repository and lands their work.')
    .version(process.env.LANDFAST_VERSION ?? 'development', '--version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .option('-C, --project-dir <dir>', 'work on the repository of this folder', '.')
    .addHelpText('after', EXIT_CODES);
  describeRun(program, wrap);
  describeSpawn(program, wrap);
  describePlan(program, wrap);
  describeInit(program, wrap);
  describeLooking(program, wrap);
  describeResults(program, wrap);
  describeSteering(program, wrap);
  describeConvert(program, wrap);
  describeConfig(program, wrap);
  program
    .command('agents')
    .description('the agents there are, which are installed, and what each can do')
    .option('--json', 'print JSON')
    .action(
      wrap(async (_, command: Command) =>
        (await import('./commands/agents.ts')).agents(command.optsWithGlobals()),
      ),
    );
  program
    .command('doctor')
    .description('check this machine and repository; asks no model')
    .option('--json', 'print JSON')
    .action(
      wrap(async (_, command: Command) =>
        (await import('./commands/doctor.ts')).doctor(command.optsWithGlobals()),
      ),
    );
  program
    .command('demo')
    .description('the main job on a throw-away repository, with no account and no network')
    .option('--keep', 'keep the folder afterwards')
    .option('--agent <name>', 'use a real agent instead of the scripted ones')
    .action(wrap(async (options) => (await import('./commands/demo.ts')).demo(options)));
  return program;
}

const EXIT_CODES = `
Exit codes:
  0    every task succeeded and what should be published is published
  1    a task failed, did not land, or publishing needs a person
  2    the input is wrong: plan, configuration, arguments
  3    the surroundings are wrong: no git repository, agent program missing, run locked
  130  ended by Ctrl-C, 143 by SIGTERM; \`landfast resume\` goes on`;

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
      wrap(async (plan, options, command: Command) =>
        (await import('./commands/run.ts')).run(plan, { ...options, ...command.optsWithGlobals() }),
      ),
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
      wrap(async (tasks, options, command: Command) =>
        (await import('./commands/spawn.ts')).spawn(tasks, {
          ...options,
          ...command.optsWithGlobals(),
        }),
      ),
    );
}

function describePlan(program: Command, wrap: Wrap): void {
  program
    .command('plan')
    .alias('validate')
    .argument('<plan>', 'the plan file')
    .description('check a plan and show it: stages, critical path, overlaps, gates, limits')
    .option('--format <name>', 'read it as this format instead of detecting it')
    .option('--explain', 'say first which format it is and why')
    .option('--no-barriers', 'show it without barriers between waves')
    .option('--prompts', 'check the prompt files of a folder instead')
    .option('--max-workers <n>', 'show it for so many workers', count)
    .option('--json', 'print JSON')
    .action(
      wrap(async (plan, _, command: Command) =>
        (await import('./commands/plan.ts')).plan(plan, command.optsWithGlobals()),
      ),
    );
}

function describeConvert(program: Command, wrap: Wrap): void {
  program
    .command('convert')
    .argument('<plan>', 'the plan file, of any known format')
    .description("write a plan as one of Landfast's own")
    .option('-o, --output <file>', 'write it to this file instead of standard output')
    .option('--force', 'overwrite that file')
    .option('--format <name>', 'read the plan as this format instead of detecting it')
    .action(
      wrap(async (plan, _, command: Command) =>
        (await import('./commands/convert.ts')).convert(plan, command.optsWithGlobals()),
      ),
    );
}

function describeConfig(program: Command, wrap: Wrap): void {
  program
    .command('config')
    .argument('[key]', 'a key such as agent.max_retries, or a section such as land')
    .argument('[value]', 'its new value; a list is separated by commas')
    .description('show what is configured, or change it')
    .option('-l, --list', 'all keys that have a value')
    .option('--origin', 'with the file each comes from, or why it holds')
    .option('-g, --global', "your own file for all repositories instead of this repository's")
    .option('--unset', 'remove the key from the file')
    .option('--json', 'print JSON')
    .action(
      wrap(async (key, value, _, command: Command) =>
        (await import('./commands/config.ts')).config(key, value, command.optsWithGlobals()),
      ),
    );
}

function describeInit(program: Command, wrap: Wrap): void {
  program
    .command('init')
    .argument('[dir]', 'the folder to make for -t and -n (default: parallel/<tech spec>-<name>)')
    .description('write a first landfast.yaml; with -t and -n a folder for waves of tasks')
    .option('-t, --tech-spec <id>', 'the specification it is about, such as TS-0042')
    .option('-n, --name <name>', 'a short name')
    .option('--parallel', 'make parallel/ with its README.md and .gitignore instead')
    .option('-f, --force', 'write landfast.yaml also where a configuration is there already')
    .addOption(new Option('--no-claude', 'no model is asked anyway').hideHelp())
    .action(
      wrap(async (dir, _, command: Command) =>
        (await import('./commands/init.ts')).init(dir, command.optsWithGlobals()),
      ),
    );
}

function describeLooking(program: Command, wrap: Wrap): void {
  program
    .command('status')
    .argument('[run]', 'a run id or its beginning, or the folder of a plan (default: the newest)')
    .description('a run as it stands')
    .option('-w, --watch', 'go on showing it until it ends')
    .option('--json', 'print JSON')
    .action(
      wrap(async (run, _, command: Command) =>
        (await import('./commands/status.ts')).status(run, command.optsWithGlobals()),
      ),
    );
  program
    .command('runs')
    .description('all runs of this repository')
    .option('--json', 'print JSON')
    .action(
      wrap(async (_, command: Command) =>
        (await import('./commands/runs.ts')).runs(command.optsWithGlobals()),
      ),
    );
  program
    .command('logs')
    .argument('<task>', 'the task')
    .description("what a task's agent said and did")
    .option('-f, --follow', 'go on until the attempt ends')
    .option('--run <run>', 'a run id or its beginning (default: the newest)')
    .option('--attempt <n>', 'which attempt (default: the newest)', count)
    .option('--raw', 'the output of the process as it came')
    .option('--json', 'print the transcript as NDJSON')
    .action(
      wrap(async (task, _, command: Command) =>
        (await import('./commands/logs.ts')).logs(task, command.optsWithGlobals()),
      ),
    );
}

/** Runs in the background: looking at them again, and at what they leave. */
function describeResults(program: Command, wrap: Wrap): void {
  program
    .command('attach')
    .argument('[run]', 'a run id or its beginning (default: the newest)')
    .description('show a run that goes on in the background; Ctrl-C leaves it alone')
    .action(
      wrap(async (run, _, command: Command) =>
        (await import('./commands/attach.ts')).attach(run, command.optsWithGlobals()),
      ),
    );
  program
    .command('collect')
    .argument('[run]', 'a run id or its beginning (default: the newest)')
    .description('what became of the tasks that are over, and what their agents said last')
    .option('-w, --wait', 'wait until the run ends; then end with its exit code')
    .option('--json', 'print JSON')
    .action(
      wrap(async (run, _, command: Command) =>
        (await import('./commands/collect.ts')).collect(run, command.optsWithGlobals()),
      ),
    );
  program
    .command('worktrees')
    .description('workspaces that runs have left or are using, and what to do about them')
    .option('--json', 'print JSON')
    .action(
      wrap(async (_, command: Command) =>
        (await import('./commands/worktrees.ts')).worktrees(command.optsWithGlobals()),
      ),
    );
  program
    .command('engine', { hidden: true })
    .action(wrap(async () => (await import('./commands/engine.ts')).engine()));
}

/** Says what went wrong, and answers with the exit code that goes with it. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof UserError || error instanceof OperationalError) {
    showError(error);
    return error instanceof UserError ? EXIT.usage : EXIT.world;
  }
  console.error('landfast: this is a bug of landfast; please report it with the lines below.');
  console.error(error instanceof Error ? error.stack : String(error));
  return EXIT.bug;
}

/** One line, and a way out. */
export function showError({ message, remedy }: UserError | OperationalError): void {
  console.error(`landfast: ${message}`);
  if (remedy !== undefined) console.error(`  ${remedy}`);
}
