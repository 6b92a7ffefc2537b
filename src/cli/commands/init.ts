/**
 * `landfast init`: a first configuration (init-config.ts), or the folders that a decomposition goes
 * into. Of those nothing is overwritten: what exists stays as it is.
 */

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Option } from 'commander';
import { messageOf, OperationalError, UserError } from '../../base/errors.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';
import { type InitConfigFlags, initConfig } from './init-config.ts';
import { initTool, TOOLS } from './init-tool.ts';

/** Describes the command for the command line and its help. */
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

export interface InitFlags extends InitConfigFlags {
  readonly techSpec?: string;
  readonly name?: string;
  readonly parallel?: boolean;
  /** Whose configuration is written; absent means our own. */
  readonly format?: string;
}

const PARALLEL = 'parallel';
const WORD = /^[A-Za-z0-9][\w.-]*$/;

/** Writes a configuration, makes `parallel/`, or a directory for one specification in it. */
export async function init(dir: string | undefined, flags: InitFlags): Promise<number> {
  const { techSpec, name, parallel = false } = flags;
  const isBare = techSpec === undefined && dir === undefined && name === undefined;
  if (isBare && !parallel) {
    return flags.format === undefined ? initConfig(flags) : initTool(flags.format, flags);
  }
  if (flags.format !== undefined) throw new UserError('--format applies only to a configuration.');
  if (flags.force === true) throw new UserError('--force applies only to a configuration.');
  if (isBare) {
    const place = await placeAt(flags.projectDir, new AbortController().signal);
    return setUp(join(place.dir, PARALLEL), place.dir);
  }
  if (techSpec === undefined || name === undefined || parallel) {
    const remedy = 'landfast init [DIR] -t TS-0042 -n NAME, or landfast init --parallel';
    throw new UserError('A directory needs a Tech Spec and a name.', remedy);
  }
  for (const word of [techSpec, name]) {
    if (!WORD.test(word)) throw new UserError(`${word} is not a name: use letters, digits and -.`);
  }
  return makeDirectory(
    dir ?? join(flags.projectDir, PARALLEL, `${techSpec}-${name}`),
    techSpec,
    name,
  );
}

function setUp(folder: string, root: string): number {
  const made = writeMissing(folder, { 'README.md': README, '.gitignore': IGNORE });
  for (const [file, isNew] of made) {
    console.log(`${isNew ? 'made' : 'kept'}  ${relative(root, join(folder, file))}`);
  }
  tellAgents(join(root, 'CLAUDE.md'));
  return EXIT.ok;
}

/** Adds a section to the file that agents read first, where there is one; never twice. */
function tellAgents(file: string): void {
  if (!existsSync(file)) return;
  const text = readFileSync(file, 'utf8');
  const isThere = /^#+ +parallel (?:work|development|agents)\b/im.test(text);
  const gap = text.endsWith('\n') ? '\n' : '\n\n';
  if (!isThere) appendFileSync(file, `${gap}${FOR_AGENTS}`);
  console.log(`${isThere ? 'kept ' : 'added'} ${isThere ? '' : 'a section to '}CLAUDE.md`);
}

function makeDirectory(dir: string, techSpec: string, name: string): number {
  const file = join(dir, 'manifest.json');
  if (existsSync(file)) {
    throw new UserError(`${file} already exists.`, 'Choose another folder, or delete it first.');
  }
  const manifest = { tech_spec_id: techSpec, name, waves: [{ number: 1, tasks: [] }] };
  writeMissing(dir, { 'manifest.json': jsonText(manifest), 'context.md': CONTEXT });
  for (const folder of ['contracts', 'tasks', 'prompts']) {
    makeFolders(join(dir, folder));
  }
  console.log(`made  ${file}`);
  console.log(`Add tasks to its waves, then: landfast validate ${dir}`);
  return EXIT.ok;
}

/** Writes the files that are not there; answers for each whether it was written. */
function writeMissing(
  folder: string,
  files: Readonly<Record<string, string>>,
): readonly (readonly [string, boolean])[] {
  try {
    makeFolders(folder);
    return Object.entries(files).map(([name, text]) => {
      const path = join(folder, name);
      if (existsSync(path)) return [name, false];
      writeFileSync(path, text, { flag: 'wx' });
      return [name, true];
    });
  } catch (error) {
    throw new OperationalError(`${folder} could not be set up: ${messageOf(error)}`);
  }
}

/** Prompts and scripts are made again from the task files; reports are of one run. */
const IGNORE = '*/prompts/\n*/scripts/\n*/integration-report.md\n';

const CONTEXT = `# Context

What every agent should know of this project: what it is, its stack, its conventions.
`;

const FOR_AGENTS = `## Parallel work

Large changes are decomposed into tasks below \`parallel/\`, one folder for each specification; see
\`parallel/README.md\`. Contracts there are designs: follow them, and never import from \`parallel/\`.
`;

const README = `# Parallel work

One folder for each specification, such as \`TS-0042-shop/\`:

- \`manifest.json\`: the waves, and which agent does which task
- \`tasks/task-001-users.md\`: what a task creates, modifies, must not touch; its checklist
- \`contracts/\`: shared types and interfaces, to be followed, never imported
- \`context.md\`: what every agent should know of the project
- \`task-graph.md\`: the order as a picture

\`\`\`
landfast init -t TS-0042 -n shop
landfast validate parallel/TS-0042-shop
landfast run parallel/TS-0042-shop
landfast status parallel/TS-0042-shop
\`\`\`
`;
