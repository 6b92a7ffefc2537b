/** The commands that steer a live run, or take up one that was left. */

import type { Command } from 'commander';
import { howToRun, type Wrap } from './options.ts';

/** Adds `cancel`, `pause`, `resume`, `retry` and `skip`. */
export function describeSteering(program: Command, wrap: Wrap): void {
  program
    .command('cancel')
    .argument('[task]', 'the task; without it the whole run')
    .description('end a task or a run; its work is kept')
    .option('--run <run>', 'a run id or its beginning (default: the newest)')
    .option('--json', 'print JSON')
    .action(
      wrap(async (task, _, command: Command) =>
        (await import('./commands/cancel.ts')).cancel(task, command.optsWithGlobals()),
      ),
    );
  describePausing(program, wrap);
  describeTaskSteering(program, wrap);
}

function describeTaskSteering(program: Command, wrap: Wrap): void {
  const retry = program
    .command('retry')
    .argument('<tasks...>', 'failed tasks, or tasks that wait for their next attempt')
    .description('try tasks again now, and what failed because of them')
    .option('--run <run>', 'a run id or its beginning (default: the newest)')
    .option('--fresh', 'begin anew instead of going on with session and work; both are kept')
    .option('--json', 'print JSON');
  howToRun(retry).action(
    wrap(async (tasks, options, command: Command) =>
      (await import('./commands/retry.ts')).retry(tasks, {
        ...options,
        ...command.optsWithGlobals(),
      }),
    ),
  );
  program
    .command('skip')
    .argument('<tasks...>', 'tasks that have not succeeded')
    .description('give tasks of a live run up; their work is kept')
    .option('--run <run>', 'a run id or its beginning (default: the newest)')
    .option('--satisfied', 'let what needs them go on as if they had succeeded')
    .option('--json', 'print JSON')
    .action(
      wrap(async (tasks, _, command: Command) =>
        (await import('./commands/skip.ts')).skip(tasks, command.optsWithGlobals()),
      ),
    );
}

function describePausing(program: Command, wrap: Wrap): void {
  program
    .command('pause')
    .argument('[run]', 'a run id or its beginning (default: the newest)')
    .description('start nothing new in a live run until it is resumed')
    .option('--suspend', 'halt the agents that run, too; resume lets them go on')
    .option('--json', 'print JSON')
    .action(
      wrap(async (run, _, command: Command) =>
        (await import('./commands/pause.ts')).pause(run, command.optsWithGlobals()),
      ),
    );
  const resume = program
    .command('resume')
    .argument('[run]', 'a run id or its beginning (default: the newest)')
    .description('go on with a run that is paused, was interrupted or has failed tasks')
    .option('--json', 'print JSON, where a live run is told to go on');
  howToRun(resume).action(
    wrap(async (run, options, command: Command) => {
      const flags = { ...options, ...command.optsWithGlobals() };
      (await import('./place.ts')).lookAhead(flags.projectDir);
      return (await import('./commands/resume.ts')).resume(run, flags);
    }),
  );
}
