/**
 * The command line: one file per command, loaded when it is called.
 *
 *   C1. A command loads its own file only; all are loaded to list them (`--help`, a wrong name).
 *   C2. An error of the user's or the world's is one line and a way out, never a stack trace.
 */

import { Command } from 'commander';
import type { Compiled } from './boot/compile-cache.ts';
import { hasExecuted, isExecuting } from './boot/executing.ts';
import { EXIT, explain } from './exit.ts';
import { globalOptions, type Wrap } from './options.ts';
import { commandWord, writtenOut } from './prefixes.ts';

interface CommandFile {
  /** Describes the command for the command line and its help. */
  describe(program: Command, wrap: Wrap): void;
}

/** The commands in the order of `landfast --help`. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandFile>>> = {
  run: () => import('./commands/run.ts'),
  spawn: () => import('./commands/spawn.ts'),
  land: () => import('./commands/land.ts'),
  plan: () => import('./commands/plan.ts'),
  init: () => import('./commands/init.ts'),
  convert: () => import('./commands/convert.ts'),
  config: () => import('./commands/config.ts'),
  status: () => import('./commands/status.ts'),
  queue: () => import('./commands/queue.ts'),
  runs: () => import('./commands/runs.ts'),
  logs: () => import('./commands/logs.ts'),
  attach: () => import('./commands/attach.ts'),
  collect: () => import('./commands/collect.ts'),
  worktrees: () => import('./commands/worktrees.ts'),
  engine: () => import('./commands/engine.ts'),
  cancel: () => import('./commands/cancel.ts'),
  pause: () => import('./commands/pause.ts'),
  continue: () => import('./commands/continue.ts'),
  resume: () => import('./commands/resume.ts'),
  retry: () => import('./commands/retry.ts'),
  comment: () => import('./commands/comment.ts'),
  skip: () => import('./commands/skip.ts'),
  limit: () => import('./commands/limit.ts'),
  approve: () => import('./commands/approve.ts'),
  pool: () => import('./commands/pool.ts'),
  kept: () => import('./commands/kept.ts'),
  cleanup: () => import('./commands/cleanup.ts'),
  agents: () => import('./commands/agents.ts'),
  doctor: () => import('./commands/doctor.ts'),
  demo: () => import('./commands/demo.ts'),
  version: () => import('./commands/version.ts'),
};

/** Runs the program as a process. */
export async function start(compiled: Compiled): Promise<void> {
  // While most commands wait for git to say where they are, and before a plan is read.
  setImmediate(async () => {
    // Otherwise V8 forgets what was only needed at the start, which is what the next start needs.
    const withCode = compiled.isMore('run');
    (await import('./boot/heap.ts')).keepHeapSmall({ withCode });
  });
  for (const stream of [process.stdout, process.stderr]) stream.on('error', brokenPipe);
  // Nothing is left to do then; without this Node would take down its heap piece by piece.
  process.once('beforeExit', () => process.exit());
  const args = process.argv.slice(2);
  process.exitCode = await main(args);
  if (process.exitCode !== EXIT.ok && !hasExecuted()) return;
  await keepCompiled(compiled, args);
}

/** For the next command. Whoever only wants to see the demo finds nothing left behind. */
async function keepCompiled(compiled: Compiled, args: readonly string[]): Promise<void> {
  const extent = hasExecuted() ? 'run' : 'part';
  if (args.includes('demo') || !compiled.isMore(extent)) return;
  const { withUsualHeap } = await import('./boot/heap.ts');
  withUsualHeap(() => compiled.keep(extent));
}

/**
 * The reader of our output is gone: `| head`, or a closed terminal. A run continues and reports
 * through its exit code; a command that only prints ends.
 */
function brokenPipe(): void {
  if (!isExecuting()) process.exit(EXIT.ok);
}

/** Runs one command line and answers with its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const wrap: Wrap =
    (command) =>
    async (...given) => {
      code = await command(...given);
    };
  try {
    const word = commandWord(args);
    const known = Object.hasOwn(COMMANDS, word) ? [word] : Object.keys(COMMANDS);
    const program = await describeProgram(wrap, known);
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

/** The command line with these commands, or all of them; `wrap` is put around each action. */
export async function describeProgram(
  wrap: Wrap,
  names: readonly string[] = Object.keys(COMMANDS),
): Promise<Command> {
  const program = globalOptions(new Command('landfast'))
    .description('Runs many coding agents in parallel on one git repository and lands their work.')
    .version(process.env.LANDFAST_VERSION ?? 'development', '-v, --version', 'print the version')
    .exitOverride()
    .showHelpAfterError('  See landfast --help or landfast COMMAND --help.')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EXIT_CODES);
  const files = await Promise.all(names.map((name) => COMMANDS[name]?.()));
  for (const file of files) file?.describe(program, wrap);
  return program;
}

const EXIT_CODES = `
Exit codes:
  0    every task succeeded and what should be published is published
  1    a task failed, did not land, or publishing needs a person
  2    the input is wrong: plan, configuration, arguments
  3    the environment is wrong: no git repository, agent program missing, run locked
  130  ended by Ctrl-C, 143 by SIGTERM; \`landfast resume\` continues the run`;
