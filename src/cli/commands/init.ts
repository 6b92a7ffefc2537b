/** `landfast init`: a first configuration and plan, or the folders that a decomposition goes into. */

import { Option } from 'commander';
import {
  type FirstFile,
  initConfig,
  initParallel,
  initSpecification,
  initTool,
  TOOLS,
} from '../../app/init.ts';
import { UserError } from '../../base/errors.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { NEVER, placeAt, terminalHost } from '../terminal/host.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('init')
    .argument('[dir]', 'the folder to create for -t and -n (default: parallel/<tech spec>-<name>)')
    .description(
      'write a starter landfast.yaml with a gate, and a plan; with -t and -n, a folder for waves',
    )
    .option('-t, --tech-spec <id>', 'the specification it is about, such as TS-0042')
    .option('-n, --name <name>', 'a short name')
    .option('--parallel', 'create parallel/ with its README.md and .gitignore instead')
    .addOption(new Option('--format <tool>', 'write the files of this tool instead').choices(TOOLS))
    .option('-f, --force', 'write landfast.yaml even if a configuration already exists')
    .addOption(new Option('--no-claude', 'no effect: init never calls a model').hideHelp())
    .action(wrap((dir, _, command: Program) => init(dir, command.optsWithGlobals())));
}

interface InitFlags {
  readonly projectDir: string;
  readonly force?: boolean;
  readonly techSpec?: string;
  readonly name?: string;
  readonly parallel?: boolean;
  /** Whose configuration is written; absent means our own. */
  readonly format?: string;
}

/** Writes a configuration, makes `parallel/`, or a directory for one specification in it. */
async function init(dir: string | undefined, flags: InitFlags): Promise<number> {
  const { techSpec, name, parallel = false, format, projectDir } = flags;
  const isBare = techSpec === undefined && dir === undefined && name === undefined;
  if (isBare && !parallel)
    return format === undefined ? ownConfig(flags) : toolConfig(format, flags);
  if (format !== undefined) throw new UserError('--format applies only to a configuration.');
  if (flags.force === true) throw new UserError('--force applies only to a configuration.');
  if (isBare) return parallelFolder(projectDir);
  if (techSpec === undefined || name === undefined || parallel) {
    const remedy = 'landfast init [DIR] -t TS-0042 -n NAME, or landfast init --parallel';
    throw new UserError('A directory needs a Tech Spec and a name.', remedy);
  }
  const { folder, manifest } = initSpecification({ techSpec, name }, { dir, projectDir });
  console.log(`made  ${manifest}`);
  console.log(`Add tasks to its waves, then: landfast validate ${folder}`);
  return EXIT.ok;
}

async function ownConfig({ projectDir, force = false }: InitFlags): Promise<number> {
  const first = await initConfig(await placeAt(projectDir, NEVER), { force }, NEVER);
  if (first.kind === 'exists') {
    console.error(`landfast: ${first.path} already exists and takes precedence.`);
    console.error('  With --force a new landfast.yaml is written and takes precedence.');
    return EXIT.failed;
  }
  const { text, plan } = first;
  process.stdout.write(`made  landfast.yaml\n${line(plan)}\n\n${text}\n`);
  if (plan.isNew)
    console.log(`Next: say in ${plan.path} what to do, then landfast run ${plan.path}`);
  return EXIT.ok;
}

function toolConfig(tool: string, { projectDir, force = false }: InitFlags): number {
  const made = initTool(tool, projectDir, { force, host: terminalHost() });
  if (made.isNew) console.log(`made  ${made.projectFile}\nmade  ${made.worktrees}`);
  else console.error(`landfast: ${made.projectFile} already exists; --force overwrites it.`);
  return EXIT.ok;
}

async function parallelFolder(projectDir: string): Promise<number> {
  const { files, agentsFile } = initParallel(await placeAt(projectDir, NEVER));
  for (const file of files) console.log(line(file));
  if (agentsFile?.isNew === true) console.log(`added a section to ${agentsFile.path}`);
  else if (agentsFile !== null) console.log(line(agentsFile));
  return EXIT.ok;
}

function line({ path, isNew }: FirstFile): string {
  return `${isNew ? 'made' : 'kept'}  ${path}`;
}
