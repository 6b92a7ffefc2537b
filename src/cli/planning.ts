/** The commands for what is written down before a run: plans and configuration. */

import { type Command, Option } from 'commander';
import { count, type Wrap } from './options.ts';

/** Adds `plan`, `init`, `convert` and `config`. */
export function describePlanning(program: Command, wrap: Wrap): void {
  describePlan(program, wrap);
  describeInit(program, wrap);
  describeConvert(program, wrap);
  describeConfig(program, wrap);
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
