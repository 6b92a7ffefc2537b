/**
 * The settings of a configuration, one by one: those in effect, and changing one in its file. A
 * file is replaced as a whole by one that was read and is right, or stays as it is.
 */

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { messageOf, OperationalError, UserError } from '../base/errors.ts';
import { writeWhole } from '../base/write-whole.ts';
import { edited, typedText } from '../plan/config/edit.ts';
import { type ConfigKey, isSection, keyNamed, type Listed, listing } from '../plan/config/keys.ts';
import { type ConfigFile, readConfig } from '../plan/config/read.ts';
import { formatProblem, type Problem } from '../plan/problem.ts';
import { filesOf, findGitFacts, knownFiles, loadConfiguration } from './config-files.ts';
import type { Host, Place } from './place.ts';

/** Everything that has a value; of `global` files only what they say. */
export async function listSettings(
  place: Place,
  scope: 'global' | 'all',
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const configuration = loadConfiguration(place, scope === 'global' ? ['global'] : undefined);
  if (scope === 'all') {
    return listing(configuration, await findGitFacts(configuration.config, place, signal));
  }
  return listing(configuration, null).filter(({ origin }) => origin !== 'default');
}

/** Of these the one of that key, or all below it; null where the key has no value. */
export function settingsNamed(
  listed: readonly Listed[],
  name: string,
): Listed | readonly Listed[] | null {
  const below = listed.filter(({ key }) => key.startsWith(`${name}.`));
  if (isSection(name)) return below;
  keyNamed(name);
  const found = listed.find(({ key }) => key === name);
  return found ?? (below.length > 0 ? below : null);
}

/** Sets the value that a text means for a key, or removes the key where there is no text. */
export function changeSetting(
  scope: ConfigFile['scope'],
  place: Place,
  { name, text }: { readonly name: string; readonly text: string | undefined },
): { readonly value: unknown; readonly file: string } {
  const key = keyNamed(name);
  const value = text === undefined ? undefined : valueFor(key, text);
  return { value, file: writeSetting(scope, place, { path: key.path, value }) };
}

function valueFor(key: ConfigKey, text: string): unknown {
  const name = key.path.join('.');
  const given = name === 'project.test_instructions' ? contentOf(text) : text;
  const typed = typedText(key.shape, given);
  if (typed.kind === 'wrong') {
    throw new UserError(`${name}: expected ${typed.expected}, found ${JSON.stringify(given)}.`);
  }
  return typed.value;
}

/** Sets a value, or removes it where it is undefined; answers with the file that was changed. */
function writeSetting(
  scope: ConfigFile['scope'],
  { dir, host }: Pick<Place, 'dir' | 'host'>,
  change: { readonly path: readonly string[]; readonly value: unknown },
): string {
  const file = fileToWrite(scope, dir, host);
  requireRight(file);
  const name = change.path.join('.');
  if (file.dialect.keyFor?.(name) === null) {
    const remedy = 'Move its values to landfast.yaml, which is then read in its place.';
    throw new UserError(`${file.path} cannot express ${name}.`, remedy);
  }
  const text = edited(file.text, file.dialect, change);
  if (change.value === undefined && text === file.text) {
    throw new UserError(`${name} is not set in ${file.path}.`);
  }
  const [wrong] = errorsOf({ ...file, text });
  if (wrong !== undefined) throw new UserError(`${wrong.message}.`, wrong.remedy);
  replace(file.path, text);
  return file.path;
}

/** The file that takes precedence there, or a new Landfast file. */
function fileToWrite(scope: ConfigFile['scope'], root: string, host: Host): ConfigFile {
  const strongest = filesOf(scope, root, host).at(-1);
  const [ours] = knownFiles(scope, root, host);
  return strongest ?? { ...ours!, text: '' };
}

function requireRight(file: ConfigFile): void {
  const problems = errorsOf(file);
  if (problems.length === 0) return;
  throw new UserError(
    `${file.path} must be fixed before anything is written to it:`,
    problems.map(formatProblem).join('\n  '),
  );
}

function errorsOf(file: ConfigFile): readonly Problem[] {
  return readConfig(file).problems.filter(({ severity }) => severity === 'error');
}

/** `@file` stands for what is in the file. */
function contentOf(text: string): string {
  if (!text.startsWith('@')) return text;
  try {
    return readFileSync(text.slice(1), 'utf8');
  } catch (error) {
    throw new UserError(`${text.slice(1)} cannot be read: ${messageOf(error)}`);
  }
}

function replace(path: string, text: string): void {
  try {
    const before = statSync(path, { throwIfNoEntry: false });
    const target = before === undefined ? path : realpathSync(path); // A link stays a link.
    writeWhole(target, text, before?.mode ?? 0o644);
  } catch (error) {
    throw new OperationalError(`${path} could not be written: ${messageOf(error)}`);
  }
}
