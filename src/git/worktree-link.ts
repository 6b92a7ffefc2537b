/**
 * worktree-link: the file `.git` of a linked worktree, and the entry of git that it names.
 *
 *   K1. An agent can delete the file, or put anything in its place: a link to the repository, the
 *       entry of somebody else's worktree, a pipe. What it names is believed only if that is an
 *       entry which no other folder has.
 *   K2. It is written anew where its entry is still there and nothing is lost by that. A folder in
 *       its place is a repository of the agent's own and stays.
 */

import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { forgetGitFolders, realOf, textOf } from './git-dir.ts';

/** Whether a folder is a worktree of the repository, or is about to be moved to where it was. */
export function isLinked(commonDir: string, dir: string): boolean {
  const entry = entryNamed(dir);
  if (entry === null || !isEntry(commonDir, entry)) return false;
  const told = textOf(`${entry}/gitdir`)?.trimEnd() ?? null;
  if (told === null || told === `${dir}/.git`) return true;
  const other = entryNamed(dirname(told));
  return (
    other === null || realOf(other) !== realOf(entry) || realOf(told) === realOf(`${dir}/.git`)
  );
}

/** Whether a folder is a whole worktree, after its link was put right where that can be done. */
export function mendLink(commonDir: string, dir: string): boolean {
  if (isLinked(commonDir, dir)) return existsSync(`${entryNamed(dir)}/HEAD`);
  const entry = entryFor(commonDir, dir);
  const isFolder = lstatSync(`${dir}/.git`, { throwIfNoEntry: false })?.isDirectory() === true;
  if (entry === null || isFolder || !existsSync(dir)) return false;
  const next = `${dir}/.git-next`;
  writeFileSync(next, `gitdir: ${entry}\n`);
  renameSync(next, `${dir}/.git`);
  forgetGitFolders();
  return existsSync(`${entry}/HEAD`);
}

/** The git folder that a folder's own file names; null where there is no such file. */
function entryNamed(dir: string): string | null {
  const file = `${dir}/.git`;
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const link = readFileSync(file, 'utf8');
  return link.startsWith('gitdir: ') ? resolve(dir, link.slice(8).trimEnd()) : null;
}

function isEntry(commonDir: string, entry: string): boolean {
  const [folder, entries] = [dirname(entry), `${commonDir}/worktrees`];
  return folder === entries || realOf(folder) === realOf(entries);
}

/** The entry that names a folder; null where there is none. */
function entryFor(commonDir: string, dir: string): string | null {
  const entries = `${commonDir}/worktrees`;
  const names = existsSync(entries) ? readdirSync(entries) : [];
  const here = realOf(dir);
  const isHere = (entry: string): boolean => {
    const told = textOf(`${entry}/gitdir`)?.trimEnd();
    return told !== undefined && realOf(dirname(told)) === here;
  };
  return names.map((name) => `${entries}/${name}`).find(isHere) ?? null;
}
