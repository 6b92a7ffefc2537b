/**
 * `landfast init`: a first configuration (init-config.ts), or the folders that a decomposition goes
 * into. Of those nothing is overwritten: what exists stays as it is.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { messageOf, OperationalError, UserError } from '../../base/errors.ts';
import { jsonText } from '../../report/json.ts';
import { type InitConfigFlags, initConfig } from '../init-config.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';

export interface InitFlags extends InitConfigFlags {
  readonly techSpec?: string;
  readonly name?: string;
  readonly parallel?: boolean;
}

const PARALLEL = 'parallel';
const WORD = /^[A-Za-z0-9][\w.-]*$/;

/** Writes a configuration, makes `parallel/`, or a directory for one specification in it. */
export async function init(dir: string | undefined, flags: InitFlags): Promise<number> {
  const { techSpec, name, parallel = false } = flags;
  const isBare = techSpec === undefined && dir === undefined && name === undefined;
  if (isBare && !parallel) return initConfig(flags);
  if (flags.force === true) throw new UserError('--force is for landfast.yaml alone.');
  if (isBare) {
    const place = await findPlace(flags.projectDir, new AbortController().signal);
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
  return EXIT.ok;
}

function makeDirectory(dir: string, techSpec: string, name: string): number {
  const file = join(dir, 'manifest.json');
  if (existsSync(file)) {
    throw new UserError(`${file} is there already.`, 'Choose another folder, or delete it first.');
  }
  const manifest = { tech_spec_id: techSpec, name, waves: [{ number: 1, tasks: [] }] };
  writeMissing(dir, { 'manifest.json': jsonText(manifest), 'context.md': CONTEXT });
  for (const folder of ['contracts', 'tasks', 'prompts']) {
    mkdirSync(join(dir, folder), { recursive: true });
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
    mkdirSync(folder, { recursive: true });
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
