/** Files that others read: they find the old content or the new one, never half of it. */

import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from './make-folders.ts';

/** Writes a file as a whole, with the folders it is in; a link in its place is replaced. */
export function writeWhole(path: string, text: string): void {
  makeFolders(dirname(path));
  const part = `${path}.${randomUUID()}.part`;
  try {
    writeFileSync(part, text, { flag: 'wx' });
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
