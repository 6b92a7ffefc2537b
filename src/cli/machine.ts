/** The commands about this machine: what is installed, what is missing, and how it all looks. */

import type { Command } from 'commander';
import type { Wrap } from './options.ts';

/** Adds `agents`, `doctor` and `demo`. */
export function describeMachine(program: Command, wrap: Wrap): void {
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
}
