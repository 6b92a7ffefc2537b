/**
 * The settings of a repository, as git reads them, cached until a file they come from changes. The
 * last value of a name counts; names are in lower case except for the part in the middle. They are
 * those of the common directory: where a worktree or a branch may have others (`areShared`),
 * callers leave the decision to git.
 */

import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { environment, PerRuntime } from '../base/runtime.ts';
import { git } from './git.ts';

/** Values by name; a name without a value means true. */
export type Settings = ReadonlyMap<string, string | true>;

interface Known {
  readonly settings: Settings;
  /** Every file that they come from, or could, with its fingerprint. */
  readonly files: ReadonlyMap<string, string>;
}

const known = new PerRuntime(() => new Map<string, Known>());

/** The settings that hold in a folder, mostly a repository's common directory. */
export async function settingsIn(dir: string, signal: AbortSignal): Promise<Settings> {
  const before = known.current?.get(dir);
  if (before !== undefined && isUnchanged(before.files)) return before.settings;
  const standard = standardFiles(dir).map((file) => [file, fingerprintOf(file)] as const);
  const { stdout } = await git(dir, ['config', '--list', '--show-origin', '-z'], signal);
  const { settings, sources } = parsed(stdout, dir);
  const told = sources.map((file) => [file, fingerprintOf(file)] as const);
  known.current?.set(dir, { settings, files: new Map([...standard, ...told]) });
  return settings;
}

/** Where git looks for settings, whether the file exists or not. */
function standardFiles(dir: string): readonly string[] {
  const { XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = environment();
  const config = XDG_CONFIG_HOME || join(home(), '.config');
  const users = [join(home(), '.gitconfig'), join(config, 'git', 'config'), '/etc/gitconfig'];
  const named = [GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM].filter((file) => file !== undefined);
  return [...users, ...named, join(dir, 'config'), join(dir, 'config.worktree')];
}

function home(): string {
  return environment().HOME ?? homedir();
}

function isUnchanged(files: ReadonlyMap<string, string>): boolean {
  return [...files].every(([file, print]) => fingerprintOf(file) === print);
}

function fingerprintOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.ctimeNs}`;
}

/** Holds in all worktrees or in none: a folder around the common directory is around all. */
const FOR_ALL = /^includeif\.(?:hasconfig:|gitdir(?:\/i)?:(?!.*(?:\.git|worktrees)).*\/\.path$)/s;
const CONDITION = 'includeif.';

/** Whether the settings are the same in all worktrees, on whatever branch. */
export function areShared(settings: Settings): boolean {
  return [...settings.keys()].every((name) => !name.startsWith(CONDITION) || FOR_ALL.test(name));
}

/** Names a file that git reads as well, once it exists. */
const INCLUDE = /^include(?:if\..*)?\.path$/s;

/** `origin NUL name LF value NUL`, or `origin NUL name NUL`. */
function parsed(
  text: string,
  dir: string,
): { readonly settings: Settings; readonly sources: readonly string[] } {
  const settings = new Map<string, string | true>();
  const sources = new Set<string>();
  const fields = text.split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [origin = '', field = ''] = [fields[at], fields[at + 1]];
    const end = field.indexOf('\n');
    const name = end === -1 ? field : field.slice(0, end);
    const value = end === -1 || field.slice(end + 1);
    settings.set(name, value);
    if (!origin.startsWith('file:')) continue;
    const source = resolve(dir, origin.slice('file:'.length));
    sources.add(source);
    if (INCLUDE.test(name) && value !== true) {
      sources.add(resolve(dirname(source), value.replace(/^~(?=\/)/, home)));
    }
  }
  return { settings, sources: [...sources] };
}

export function isOn(settings: Settings, name: string): boolean {
  const value = settings.get(name) ?? '';
  return value === true || /^(?:true|yes|on|0*[1-9]\d*)$/i.test(value);
}

/** A setting that is a path, as git expands it. */
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
