/**
 * The command line: what can be said, and which file answers. The composition root begins here.
 *
 *   C1. Commands are loaded when they are called: `--help` and `--version` load none of them.
 *   C2. An error of the user's or the world's is one line and a way out, never a stack trace.
 */

import { Command, CommanderError } from 'commander';
import { OperationalError, UserError } from '../base/errors.ts';
import type { Compiled } from './compiled.ts';
import { hasExecuted, isExecuting } from './executing.ts';
import { describeLooking } from './looking.ts';
import { describeMachine } from './machine.ts';
import type { Wrap } from './options.ts';
import { describePlanning } from './planning.ts';
import { writtenOut } from './prefixes.ts';
import { describeStarting } from './starting.ts';
import { describeSteering } from './steering.ts';
import { describeTidying } from './tidying.ts';

/** Exit codes (docs: `landfast --help`). */
export const EXIT = { ok: 0, failed: 1, usage: 2, world: 3, bug: 70 } as const;

/** Runs the program as a process. */
export async function start(compiled: Compiled): Promise<void> {
  // While most commands wait for git to say where they are, and before a plan is read.
  setImmediate(async () => {
    // Otherwise V8 forgets what was only needed at the start, which is what the next start needs.
    const withCode = compiled.isMore('run');
    (await import('./heap.ts')).keepHeapSmall({ withCode });
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
  const { withUsualHeap } = await import('./heap.ts');
  withUsualHeap(() => compiled.keep(extent));
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
  const program = describeProgram((command) => async (...given: unknown[]) => {
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

/** All that can be said on the command line; `wrap` is put around whatever answers. */
export function describeProgram(wrap: Wrap): Command {
  const program = new Command('landfast')
    .description('Runs many coding agents in parallel on one git repository and lands their work.')
    .version(process.env.LANDFAST_VERSION ?? 'development', '--version')
    .exitOverride()
    .showHelpAfterError('  landfast --help and landfast COMMAND --help say what there is.')
    .configureHelp({ showGlobalOptions: true })
    .option('-C, --project-dir <dir>', 'work on the repository of this folder', '.')
    .addHelpText('after', EXIT_CODES);
  describeStarting(program, wrap);
  describePlanning(program, wrap);
  describeLooking(program, wrap);
  describeSteering(program, wrap);
  describeTidying(program, wrap);
  describeMachine(program, wrap);
  return program;
}

const EXIT_CODES = `
Exit codes:
  0    every task succeeded and what should be published is published
  1    a task failed, did not land, or publishing needs a person
  2    the input is wrong: plan, configuration, arguments
  3    the surroundings are wrong: no git repository, agent program missing, run locked
  130  ended by Ctrl-C, 143 by SIGTERM; \`landfast resume\` goes on`;

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
