/**
 * Where a working tree's own git folder is, and what lies in it: names only. Its index, objects and
 * refs are git's business.
 */

import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

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

/** What the text of a file `.git` names. */
function namedIn(dir: string, text: string): string | null {
  return text.startsWith('gitdir: ') ? resolve(dir, text.slice('gitdir: '.length).trimEnd()) : null;
}

/** Whether a folder is a working tree that git knows: linked both ways. */
export function isWorkingTree(dir: string): boolean {
  return existsSync(`${dir}/.git`) && existsSync(`${gitDirOf(dir)}/HEAD`);
}

/** What a file holds; null where it cannot be read. */
export function textOf(path: string): string | null {
  if (!existsSync(path)) return null; // A look costs less than an error.
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** The same path without links on the way, also of what is not there. */
export function realOf(path: string): string {
  try {
    return existsSync(path)
      ? realpathSync(path)
      : join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
