/** The commands that remove what runs have left, and that look after work which is kept. */

import type { Command } from 'commander';
import { age, count, type Wrap } from './options.ts';

/** Adds `cleanup`, `kept` and `pool`. */
export function describeTidying(program: Command, wrap: Wrap): void {
  describePool(program, wrap);
  program
    .command('cleanup')
    .description(
      'remove what runs have left: workspaces, branches, transcripts; shows first what and why',
    )
    .option('--run <run>', 'only of this run')
    .option(
      '--older-than <age>',
      'only of runs that have been still for so long, such as 7d; also their transcripts',
      age,
    )
    .option('--all', 'also what is in no commit; a backup ref is made first')
    .option('--cancel', 'first cancel runs that are live, and wait; their work is kept')
    .option('-n, --dry-run', 'only show')
    .option('-y, --yes', 'do not ask')
    .option('--force', 'the same as --all --yes; the backup is made all the same')
    .option('--json', 'print JSON')
    .action(
      wrap(async (_, command: Command) =>
        (await import('./commands/cleanup.ts')).cleanup(command.optsWithGlobals()),
      ),
    );
  const kept = program
    .command('kept')
    .description('work that is held by refs of ours, in no branch')
    .option('--json', 'print JSON')
    .action(
      wrap(async (_, command: Command) =>
        (await import('./commands/kept.ts')).kept(command.optsWithGlobals()),
      ),
    );
  const on = (name: string, text: string): Command =>
    kept.command(name).argument('<ref>', 'a kept ref, or RUN/TASK').description(text);
  on('show', 'what it changes')
    .option('--patch', 'the whole of it')
    .action(
      wrap(async (ref, _, command: Command) =>
        (await import('./commands/kept.ts')).showKept(ref, command.optsWithGlobals()),
      ),
    );
  on('restore', 'put it on a new branch or into a new worktree; overwrites nothing')
    .option('--branch <name>', 'the new branch')
    .option('--worktree <dir>', 'the new worktree')
    .action(
      wrap(async (ref, _, command: Command) =>
        (await import('./commands/kept.ts')).restoreKept(ref, command.optsWithGlobals()),
      ),
    );
  on('drop', 'let go of it')
    .option('-y, --yes', 'do not ask')
    .action(
      wrap(async (ref, _, command: Command) =>
        (await import('./commands/kept.ts')).dropKept(ref, command.optsWithGlobals()),
      ),
    );
}

function describePool(program: Command, wrap: Wrap): void {
  const pool = program
    .command('pool')
    .description('workspaces that wait for a task, in this run or a later one');
  pool
    .command('status', { isDefault: true })
    .description('what waits, what it holds, and what it takes')
    .option('--json', 'print JSON')
    .action(
      wrap(async (_, command: Command) =>
        (await import('./commands/pool.ts')).status(command.optsWithGlobals()),
      ),
    );
  pool
    .command('warm')
    .argument('[n]', 'how many shall wait (default: as many as stay for later runs)', count)
    .description('make workspaces at the current head, ahead of a run')
    .option('--json', 'print JSON')
    .action(
      wrap(async (n, _, command: Command) =>
        (await import('./commands/pool.ts')).warm(n, command.optsWithGlobals()),
      ),
    );
  pool
    .command('drain')
    .description('remove those that wait; what a run uses stays')
    .option('--json', 'print JSON')
    .action(
      wrap(async (_, command: Command) =>
        (await import('./commands/pool.ts')).drain(command.optsWithGlobals()),
      ),
    );
}
