/**
 * plain-file: files of a workspace, where an agent may have put anything in their place. No link is
 * followed, neither on the way to a file nor at its end. Only regular files are read, and only so
 * much of them: a pipe or a device is never waited for.
 */

import { constants, lstatSync } from 'node:fs';
import { copyFile, open, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSystemError, OperationalError, otherwise } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';

/** The content of a regular file; null for anything else, and for a larger one. */
export async function readPlain(
  dir: string,
  path: string,
  mostBytes: number,
): Promise<Buffer | null> {
  if (!isReachable(dir, path)) return null;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(dir, path), flags).catch(otherwise(null));
  if (file === null) return null;
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= mostBytes ? await file.readFile() : null;
  } finally {
    await file.close();
  }
}

/** Writes a new file in the place of the old one; a link is replaced, its target stays as it is. */
export async function writePlain(dir: string, path: string, text: string): Promise<void> {
  const file = await vacated(dir, path);
  await writeFile(file, text, { flag: 'wx' });
}

/** Copies a file of the user's; what is there stays, a link to nothing included. */
export async function copyMissing(from: string, dir: string, path: string): Promise<void> {
  if (!isReachable(dir, path)) return;
  makeFolders(dirname(join(dir, path)));
  // The user cannot read it either, or it is there.
  await copyFile(from, join(dir, path), constants.COPYFILE_EXCL).catch(otherwise(undefined));
}

export async function copyOver(from: string, dir: string, path: string): Promise<void> {
  const file = await vacated(dir, path);
  await copyFile(from, file, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** Whether no link is on the way to a path. */
export function isReachable(dir: string, path: string): boolean {
  const parts = path.split('/').slice(0, -1);
  return parts.every((_, index) => {
    const folder = join(dir, ...parts.slice(0, index + 1));
    return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? true;
  });
}

/** Removes the file at a path; its folder is there afterwards. */
async function vacated(dir: string, path: string): Promise<string> {
  const file = join(dir, path);
  const blocked = (cause: unknown): OperationalError =>
    new OperationalError(`${file} cannot be written: a link or a folder is in its place.`, {
      remedy: 'Remove it, and try again.',
      cause,
    });
  if (!isReachable(dir, path)) throw blocked(undefined);
  makeFolders(dirname(file));
  await rm(file, { force: true }).catch((error: unknown) => {
    throw isSystemError(error) ? blocked(error) : error;
  });
  return file;
}
