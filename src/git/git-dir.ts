/**
 * Where a working tree's own git folder is, and what lies in it: names only. Its index, objects and
 * refs are git's business.
 */

import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The git folder of a working tree: `.git`, or what the file `.git` of a linked one names. */
export function gitDirOf(dir: string): string {
  return linkedDirOf(dir) ?? `${dir}/.git`;
}

/** The git folder of a linked working tree; null for any other folder. */
export function linkedDirOf(dir: string): string | null {
  const path = `${dir}/.git`;
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null; // No pipe, say.
  const link = textOf(path) ?? '';
  return link.startsWith('gitdir: ') ? resolve(dir, link.slice(8).trimEnd()) : null;
}

/** Whether a folder is a working tree that git knows: linked both ways. */
export function isWorkingTree(dir: string): boolean {
  return existsSync(`${dir}/.git`) && existsSync(`${gitDirOf(dir)}/HEAD`);
}

/** What a file holds; null where it cannot be read. */
export function textOf(path: string): string | null {
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
