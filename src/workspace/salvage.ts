/**
 * salvage: copies the reports of a failed task to the user's checkout, where their readers look.
 *
 *   V1. Nothing there is overwritten: a file whose name is taken stays in the workspace.
 *   V2. No link is followed, neither in the workspace, where an agent may have made it, nor in the
 *       checkout.
 */

import { lstat, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { otherwise, rethrowBug } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import { readPlain } from './plain-file.ts';

const MOST_FILES = 100;
const MOST_BYTES = 1024 * 1024;

export interface Salvage {
  /** The workspace, and the checkout. */
  readonly from: string;
  readonly to: string;
  /** Relative to both. */
  readonly folder: string;
  /** Whether a file was injected into the workspace and is not new. */
  isKnown(name: string): boolean;
}

/** Copies the plain files of a folder that the checkout does not have; answers with their paths. */
export async function salvage(
  { from, to, folder, isKnown }: Salvage,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!(await isPlainFolder(from, folder))) return [];
  const saved: string[] = [];
  const names = (await readdir(join(from, folder))).filter((name) => !isKnown(name));
  for (const name of names.toSorted().slice(0, MOST_FILES)) {
    signal.throwIfAborted();
    const text = await readPlain(from, `${folder}/${name}`, MOST_BYTES);
    const isNew = text !== null && (await put({ to, folder, name, text }));
    if (isNew) saved.push(`${folder}/${name}`);
  }
  return saved;
}

async function isPlainFolder(root: string, folder: string): Promise<boolean> {
  let path = root;
  for (const part of folder.split('/')) {
    path = join(path, part);
    const found = await lstat(path).catch(otherwise(null));
    if (found?.isDirectory() !== true) return false;
  }
  return true;
}

async function put(wish: {
  readonly to: string;
  readonly folder: string;
  readonly name: string;
  readonly text: Buffer;
}): Promise<boolean> {
  const { to, folder, name, text } = wish;
  makeFolders(join(to, folder));
  if (!(await isPlainFolder(to, folder))) return false;
  const path = join(to, folder, name);
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    rethrowBug(error);
    return false;
  }
}
