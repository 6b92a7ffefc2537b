/** Files that others read: they find the old content or the new one, never half of it. */

import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from './make-folders.ts';

/** A path that nothing has yet: this one, or the first of `path-2`, `path-3` … */
export function freePath(path: string): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? path : `${path}-${n}`;
    if (!existsSync(name)) return name;
  }
}

/** Writes a file as a whole, with the folders it is in; a link in its place is replaced. */
export function writeWhole(path: string, text: string, mode = 0o666): void {
  makeFolders(dirname(path));
  const part = `${path}.${randomUUID()}.part`;
  try {
    writeFileSync(part, text, { flag: 'wx', mode });
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
