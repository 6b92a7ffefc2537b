/**
 * The git folder of a working tree, and the link between a linked worktree and its entry in the
 * repository: the file `.git` of the worktree, and `worktrees/<name>/gitdir` of the entry.
 *
 * An agent can delete the file `.git`, or replace it by a link, a pipe or the entry of another
 * worktree. It counts only if it names an entry that no other folder has. It is written again where
 * its entry still exists; a folder in its place is a repository of the agent's own and stays.
 */

import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { trySystem } from '../base/errors.ts';

/** The git folder of a working tree: `.git`, or what the file `.git` of a linked one names. */
export function gitDirOf(dir: string): string {
  const path = `${dir}/.git`;
  const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true; // No pipe, say.
  return (isFile ? namedIn(dir, textOf(path) ?? '') : null) ?? path;
}

/** The git folder of a linked working tree; null for any other folder. */
export function linkedDirOf(dir: string): string | null {
  const path = `${dir}/.git`;
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const folder = namedIn(dir, textOf(path) ?? '');
  return folder !== null && existsSync(`${folder}/commondir`) ? folder : null;
}

/** The git folder that all worktrees share, for one of them or for itself. */
export function commonDirOf(dir: string): string {
  const linked = linkedDirOf(dir);
  if (linked !== null) return dirname(dirname(linked));
  return existsSync(`${dir}/.git`) ? gitDirOf(dir) : dir;
}

function namedIn(dir: string, text: string): string | null {
  return text.startsWith('gitdir: ') ? resolve(dir, text.slice('gitdir: '.length).trimEnd()) : null;
}

/** Whether a folder is a working tree with a git folder. */
export function isWorkingTree(dir: string): boolean {
  return existsSync(`${dir}/.git`) && existsSync(`${gitDirOf(dir)}/HEAD`);
}

/** The text of a file; null where it cannot be read. */
export function textOf(path: string): string | null {
  if (!existsSync(path)) return null; // Cheaper than an error.
  return trySystem(() => readFileSync(path, 'utf8'), null);
}

/** The path without symbolic links, also of a file that does not exist. */
export function realOf(path: string): string {
  const resolved = () =>
    existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
  return trySystem(resolved, path);
}

/** Whether a folder is a worktree of the repository, or is about to be moved to where it was. */
export function isLinked(commonDir: string, dir: string): boolean {
  const entry = linkedDirOf(dir);
  if (entry === null || !isEntry(commonDir, entry)) return false;
  const told = textOf(`${entry}/gitdir`)?.trimEnd() ?? null;
  if (told === null || told === `${dir}/.git`) return true;
  const other = linkedDirOf(dirname(told));
  return (
    other === null || realOf(other) !== realOf(entry) || realOf(told) === realOf(`${dir}/.git`)
  );
}

/** Repairs the link of a worktree where possible; whether it is a whole worktree then. */
export function mendLink(commonDir: string, dir: string): boolean {
  if (isLinked(commonDir, dir)) return existsSync(`${linkedDirOf(dir)}/HEAD`);
  const entry = entryFor(commonDir, dir);
  const isFolder = lstatSync(`${dir}/.git`, { throwIfNoEntry: false })?.isDirectory() === true;
  if (entry === null || isFolder || !existsSync(dir)) return false;
  const next = `${dir}/.git-next`;
  writeFileSync(next, `gitdir: ${entry}\n`);
  renameSync(next, `${dir}/.git`);
  return existsSync(`${entry}/HEAD`);
}

function isEntry(commonDir: string, entry: string): boolean {
  const [folder, entries] = [dirname(entry), `${commonDir}/worktrees`];
  return folder === entries || realOf(folder) === realOf(entries);
}

/** The entry that names a folder; null where there is none. */
function entryFor(commonDir: string, dir: string): string | null {
  const here = realOf(dir);
  const isHere = (entry: string): boolean => {
    const told = placeTold(entry);
    return told !== null && realOf(told) === here;
  };
  return entriesIn(commonDir).find(isHere) ?? null;
}

/** The path that git has recorded for the worktree with this git folder. */
export function placeTold(entry: string): string | null {
  const text = textOf(`${entry}/gitdir`);
  return text === null ? null : dirname(text.trimEnd());
}

/** The git folders of all linked worktrees. */
export function entriesIn(commonDir: string): readonly string[] {
  const folder = `${commonDir}/worktrees`;
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => `${folder}/${name}`);
}
