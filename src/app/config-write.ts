/**
 * Changes one value of a configuration file.
 *
 *   W1. What would be written is read before it is: a file is replaced as a whole
 *       by one that is right, or stays as it is.
 */

import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, OperationalError, UserError } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import { edited, typedText } from '../plan/config/edit.ts';
import type { ConfigKey } from '../plan/config/keys.ts';
import { type ConfigFile, readConfig } from '../plan/config/read.ts';
import { formatProblem, type Problem } from '../plan/problem.ts';
import { filesOf, knownFiles } from './config-files.ts';
import type { Host } from './host.ts';
import type { Place } from './place.ts';

/** The value that a text on the command line means for a key. */
export function valueFor(key: ConfigKey, text: string): unknown {
  const name = key.path.join('.');
  const given = name === 'project.test_instructions' ? contentOf(text) : text;
  const typed = typedText(key.shape, given);
  if (typed.kind === 'wrong') {
    throw new UserError(`${name}: expected ${typed.expected}, found ${JSON.stringify(given)}.`);
  }
  return typed.value;
}

/** Sets a value, or removes it where it is undefined; answers with the file that was changed. */
export function writeSetting(
  scope: ConfigFile['scope'],
  { dir, host }: Pick<Place, 'dir' | 'host'>,
  change: { readonly path: readonly string[]; readonly value: unknown },
): string {
  const file = fileToWrite(scope, dir, host);
  requireRight(file);
  const name = change.path.join('.');
  if (file.dialect.keyFor?.(name) === null) {
    throw new UserError(
      `${file.path} cannot express ${name}.`,
      'Move its values to landfast.yaml, which is then read in its place.',
    );
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

/** The file of that place which wins over others, or a new one of ours. */
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
    makeFolders(dirname(path));
    const before = statSync(path, { throwIfNoEntry: false });
    const target = before === undefined ? path : realpathSync(path); // A link stays a link.
    const temporary = `${target}.${randomUUID()}.tmp`;
    writeFileSync(temporary, text, { mode: before?.mode ?? 0o644 });
    renameSync(temporary, target);
  } catch (error) {
    throw new OperationalError(`${path} could not be written: ${messageOf(error)}`);
  }
}
