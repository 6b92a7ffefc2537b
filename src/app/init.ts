/**
 * The first files of a project: a configuration with a gate and a plan, the files of another tool, or
 * the folders that a decomposition goes into. No model is asked, and nothing that counts is replaced
 * or hidden unless that is wanted.
 */

import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { messageOf, OperationalError, UserError } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import { freePath, writeWhole } from '../base/write-whole.ts';
import { firstConfig, firstPlan } from '../plan/config/discover.ts';
import {
  FOR_AGENTS,
  PARALLEL_FILES,
  requireWord,
  specificationFiles,
} from '../plan/config/parallel-folder.ts';
import { CONFIG_DIALECTS } from '../plan/formats/index.ts';
import { jsonText } from '../report/json.ts';
import { findGitFacts, knownFiles, projectFiles } from './config-files.ts';
import { type Host, type Place, requireRepository } from './place.ts';

/** A file, from the root of the project, and whether it was made now or kept as it was. */
export interface FirstFile {
  readonly path: string;
  readonly isNew: boolean;
}

/** A first configuration, or the file that already takes precedence over one. */
export type FirstConfig =
  | { readonly kind: 'exists'; readonly path: string }
  | { readonly kind: 'made'; readonly text: string; readonly plan: FirstFile };

const FIRST_PLAN = 'plan.yaml';

/** Writes `landfast.yaml`, from what the repository and its files tell, and a first plan. */
export async function initConfig(
  place: Place,
  { force }: { readonly force: boolean },
  signal: AbortSignal,
): Promise<FirstConfig> {
  requireRepository(place);
  const { dir, host } = place;
  const known = knownFiles('project', dir, host).map(({ path }) => path);
  const there = known.find((path) => existsSync(path));
  if (there !== undefined && !force) return { kind: 'exists', path: relative(dir, there) };
  const facts = await findGitFacts({}, place, signal);
  const files = await projectFiles(place, signal);
  const text = firstConfig(facts, files);
  write(join(dir, 'landfast.yaml'), text);
  const plan = join(dir, FIRST_PLAN);
  const isNew = !existsSync(plan);
  if (isNew) write(plan, firstPlan(files));
  return { kind: 'made', text, plan: { path: FIRST_PLAN, isNew } };
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new OperationalError(`${path} cannot be written: ${messageOf(error)}`);
  }
}

/** The tools whose files can be written. */
export const TOOLS = CONFIG_DIALECTS.flatMap(({ scaffold }) => scaffold?.name ?? []);

/**
 * Writes the configuration that users of a tool find after its own `init`, makes its folder for
 * worktrees, and lets git ignore both. It needs no repository.
 */
export function initTool(
  tool: string,
  projectDir: string,
  { force, host }: { readonly force: boolean; readonly host: Host },
): { readonly isNew: boolean; readonly projectFile: string; readonly worktrees: string } {
  const { projectFile, scaffold } = CONFIG_DIALECTS.find((each) => each.scaffold?.name === tool)!;
  const root = resolve(host.cwd, projectDir);
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new OperationalError(`There is no folder ${projectDir}.`);
  }
  const { values, worktrees, stateFile } = scaffold!;
  setStateAside(stateFile.replace(/^~/, host.home), host);
  const file = join(root, projectFile);
  if (existsSync(file) && !force) return { isNew: false, projectFile, worktrees };
  try {
    writeWhole(file, jsonText(values));
    makeFolders(join(root, worktrees));
    ignore(join(root, '.gitignore'), [worktrees, `${projectFile.split('/')[0]}/`]);
  } catch (error) {
    throw new OperationalError(`${root} could not be set up: ${messageOf(error)}`);
  }
  return { isNew: true, projectFile, worktrees };
}

/** Landfast keeps no state there, but the tool itself does not start with a file it cannot read. */
function setStateAside(file: string, { warn }: Host): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true || isJson(file)) return;
  const aside = freePath(`${file}.broken`);
  try {
    renameSync(file, aside);
    warn(`warning: ${file} is not JSON; it is kept as ${aside}.`);
  } catch (error) {
    throw new OperationalError(`${file} could not be kept aside: ${messageOf(error)}`);
  }
}

function isJson(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, 'utf8'));
    return true;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new OperationalError(messageOf(error));
    return false;
  }
}

/** Adds the lines that are not in the file yet, each on a line of its own. */
function ignore(file: string, lines: readonly string[]): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const known = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = lines.filter((line) => !known.has(line));
  if (missing.length === 0) return;
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${gap}${missing.join('\n')}\n`);
}

const PARALLEL = 'parallel';

/** Makes `parallel/` with its README, and tells agents of it in their file, where there is one. */
export function initParallel({ dir: root }: Place): {
  readonly files: readonly FirstFile[];
  readonly agentsFile: FirstFile | null;
} {
  const folder = join(root, PARALLEL);
  const made = writeMissing(folder, PARALLEL_FILES);
  const files = made.map((file) => ({ ...file, path: join(PARALLEL, file.path) }));
  return { files, agentsFile: tellAgents(root, 'CLAUDE.md') };
}

/** Adds a section to the file that agents read first, where there is one; never twice. */
function tellAgents(root: string, path: string): FirstFile | null {
  const file = join(root, path);
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  const isNew = !/^#+ +parallel (?:work|development|agents)\b/im.test(text);
  const gap = text.endsWith('\n') ? '\n' : '\n\n';
  if (isNew) appendFileSync(file, `${gap}${FOR_AGENTS}`);
  return { path, isNew };
}

/** Makes the folder of one specification; answers with it and its manifest. */
export function initSpecification(
  { techSpec, name }: { readonly techSpec: string; readonly name: string },
  { dir, projectDir }: { readonly dir: string | undefined; readonly projectDir: string },
): { readonly folder: string; readonly manifest: string } {
  for (const word of [techSpec, name]) requireWord(word);
  const folder = dir ?? join(projectDir, PARALLEL, `${techSpec}-${name}`);
  const manifest = join(folder, 'manifest.json');
  if (existsSync(manifest)) {
    throw new UserError(
      `${manifest} already exists.`,
      'Choose another folder, or delete it first.',
    );
  }
  writeMissing(folder, specificationFiles(techSpec, name));
  for (const each of ['contracts', 'tasks', 'prompts']) makeFolders(join(folder, each));
  return { folder, manifest };
}

function writeMissing(
  folder: string,
  files: Readonly<Record<string, string>>,
): readonly FirstFile[] {
  try {
    makeFolders(folder);
    return Object.entries(files).map(([path, text]) => {
      const isNew = !existsSync(join(folder, path));
      if (isNew) writeFileSync(join(folder, path), text, { flag: 'wx' });
      return { path, isNew };
    });
  } catch (error) {
    throw new OperationalError(`${folder} could not be set up: ${messageOf(error)}`);
  }
}
