/** The commands that look at runs and at what they leave. */

import type { Command } from 'commander';
import type { StatusFlags } from './commands/status.ts';
import { count, type Wrap } from './options.ts';

/** Adds `status`, `queue`, `runs`, `logs`, `attach`, `collect`, `worktrees` and the hidden `engine`. */
export function describeLooking(program: Command, wrap: Wrap): void {
  describeRuns(program, wrap);
  describeResults(program, wrap);
}

function describeRuns(program: Command, wrap: Wrap): void {
  program
    .command('status')
    .argument('[run]', 'a run id or its beginning, or the folder of a plan (default: the newest)')
    .description('a run as it stands')
    .option('-w, --watch', 'go on showing it until it ends')
    .option('--json', 'print JSON')
    .action(
      wrap(async (run, _, command: Command) => {
        const flags = command.optsWithGlobals<StatusFlags>();
        (await import('./place.ts')).lookAhead(flags.projectDir);
        return (await import('./commands/status.ts')).status(run, flags);
      }),
    );
  program
    .command('queue')
    .argument('[run]', 'a run id or its beginning (default: the newest)')
    .description('the landing queue: what is verified, what waits, what landed, what was ejected')
    .option('-w, --watch', 'go on showing it until the run ends')
    .option('--explain', 'say what every gate and every look has told')
    .option('--json', 'print JSON')
    .action(
      wrap(async (run, _, command: Command) =>
        (await import('./commands/queue.ts')).queue(run, command.optsWithGlobals()),
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
