/**
 * `landfast init --format TOOL`: the files that users of another tool find after its own `init`. It
 * needs no repository, and keeps what is there.
 */

import { appendFileSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeWhole } from '../../app/write-whole.ts';
import { messageOf, OperationalError } from '../../base/errors.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { CONFIG_DIALECTS } from '../../plan/formats/index.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import type { InitConfigFlags } from './init-config.ts';

/** The tools whose files can be written. */
export const TOOLS = CONFIG_DIALECTS.flatMap(({ scaffold }) => scaffold?.name ?? []);

/** Writes the configuration, makes the folder for worktrees, and lets git ignore both. */
export function initTool(tool: string, { projectDir, force = false }: InitConfigFlags): number {
  const { projectFile, scaffold } = CONFIG_DIALECTS.find((each) => each.scaffold?.name === tool)!;
  const root = resolve(projectDir);
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new OperationalError(`There is no folder ${projectDir}.`);
  }
  const { values, worktrees, stateFile } = scaffold!;
  setStateAside(stateFile.replace(/^~/, homedir()));
  const file = join(root, projectFile);
  if (existsSync(file) && !force) {
    console.error(`landfast: ${projectFile} already exists; --force overwrites it.`);
    return EXIT.ok;
  }
  try {
    writeWhole(file, jsonText(values));
    makeFolders(join(root, worktrees));
    ignore(join(root, '.gitignore'), [worktrees, `${projectFile.split('/')[0]}/`]);
  } catch (error) {
    throw new OperationalError(`${root} could not be set up: ${messageOf(error)}`);
  }
  console.log(`made  ${projectFile}\nmade  ${worktrees}`);
  return EXIT.ok;
}

/** Landfast keeps no state there, but the tool itself does not start with a file it cannot read. */
function setStateAside(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true || isJson(file)) return;
  let aside = `${file}.broken`;
  for (let number = 2; existsSync(aside); number += 1) aside = `${file}.broken-${number}`;
  try {
    renameSync(file, aside);
    console.error(`landfast: warning: ${file} is not JSON; it is kept as ${aside}.`);
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
