/**
 * worktree-link: the file `.git` of a linked worktree, and the entry of git that it names.
 *
 *   K1. An agent can delete the file, or put anything in its place: a link to the repository, the
 *       entry of somebody else's worktree, a pipe. What it names is believed only if that is an
 *       entry which no other folder has.
 *   K2. It is written anew where its entry is still there and nothing is lost by that. A folder in
 *       its place is a repository of the agent's own and stays.
 */

import { existsSync, lstatSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { linkedDirOf, realOf, textOf } from './git-dir.ts';

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

/** Whether a folder is a whole worktree, after its link was put right where that can be done. */
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

/** Where git believes that the worktree with this git folder is. */
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
