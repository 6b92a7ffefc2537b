/** Temporary files of a test in a folder of its own, so that it sees what is left of them. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TempDir, tempDir } from './temp-dir.ts';

/** A folder in whose folder `tmp` this process puts temporary files until it is disposed of. */
export async function ownTemp(): Promise<TempDir> {
  const place = await tempDir();
  const before = process.env.TMPDIR;
  process.env.TMPDIR = join(place.path, 'tmp');
  mkdirSync(process.env.TMPDIR);
  const dispose = (): PromiseLike<void> => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    return place[Symbol.asyncDispose]();
  };
  return { ...place, [Symbol.asyncDispose]: dispose };
}
