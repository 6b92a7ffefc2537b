/**
 * The settings of a repository, as git reads them: all of them, asked for once.
 *
 *   S1. What a process has begun with it goes on with: a run should not sign half of its commits.
 *   S2. A value is the last one that git tells of that name; names are in lower case but for the
 *       part in the middle.
 *   S3. They are those of the common directory. Where a condition gives a worktree or a branch
 *       others (`areShared`), what git does is left to git.
 */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { git } from './git.ts';

/** Values by name; a name without a value means yes. */
export type Settings = ReadonlyMap<string, string | true>;

const known = new Map<string, Promise<Settings>>();

/** The settings that hold in a folder, mostly a repository's common directory. */
export function settingsIn(dir: string, signal: AbortSignal): Promise<Settings> {
  const before = known.get(dir);
  if (before !== undefined) return before;
  const asked = git(dir, ['config', '--list', '-z'], signal).then(({ stdout }) => parsed(stdout));
  known.set(dir, asked);
  asked.catch(() => known.delete(dir));
  return asked;
}

/**
 * A condition that holds in all worktrees or in none: their git folders are in the common
 * directory, so that a folder around it is around all of them.
 */
const FOR_ALL = /^includeif\.(?:hasconfig:|gitdir(?:\/i)?:(?!.*(?:\.git|worktrees)).*\/\.path$)/s;
const CONDITION = 'includeif.';

/** Whether the settings are the same in all worktrees, on whatever branch. */
export function areShared(settings: Settings): boolean {
  return [...settings.keys()].every((name) => !name.startsWith(CONDITION) || FOR_ALL.test(name));
}

/** A file beside the user's settings: `attributes`, `ignore`. */
export function userFile(name: string): string {
  const config = process.env.XDG_CONFIG_HOME || join(process.env.HOME ?? homedir(), '.config');
  return join(config, 'git', name);
}

const there = new Map<string, boolean>();

/** Whether such a file is there; it belongs to the settings (S1). */
export function isThereFromStart(path: string): boolean {
  const before = there.get(path);
  if (before !== undefined) return before;
  there.set(path, existsSync(path));
  return there.get(path) === true;
}

/** `name LF value NUL`, or `name NUL`. */
function parsed(text: string): Settings {
  const settings = new Map<string, string | true>();
  for (const field of text.split('\0').slice(0, -1)) {
    const end = field.indexOf('\n');
    settings.set(end === -1 ? field : field.slice(0, end), end === -1 || field.slice(end + 1));
  }
  return settings;
}

/** Whether a setting is on, as git understands it. */
export function isOn(settings: Settings, name: string): boolean {
  const value = settings.get(name) ?? '';
  return value === true || /^(?:true|yes|on|0*[1-9]\d*)$/i.test(value);
}

/** A path that is set, as git expands it; null where none is. */
export async function pathSet(
  dir: string,
  name: string,
  signal: AbortSignal,
): Promise<string | null> {
  const value = (await settingsIn(dir, signal)).get(name) ?? '';
  if (value === true || value === '') return null;
  if (!/^(?:~|%\()/.test(value)) return value;
  const args = ['config', '--type=path', '--get', name];
  const { stdout } = await git(dir, args, signal, { okCodes: [0, 1] });
  return stdout.replace(/\n$/, '') || null;
}
