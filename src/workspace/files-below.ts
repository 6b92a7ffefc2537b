/** The plain files below a folder, through links too, without going in circles or into git. */

import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OperationalError } from '../base/errors.ts';
import { inScope } from '../model/scope.ts';

/** More of them are not a folder of settings. */
const MOST_FILES = 20_000;

/** Paths relative to the folder, sorted; those in `skip` and what cannot be read are left out. */
export async function filesBelow(
  folder: string,
  skip: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = [];
  const walk = async (below: string, above: readonly string[]): Promise<void> => {
    const here = join(folder, below);
    const real = await realpath(here).catch(() => null);
    if (real === null || above.includes(real)) return;
    const names: readonly string[] = await readdir(here).catch(() => []);
    if (below !== '' && names.includes('.git')) return; // A repository of its own.
    for (const name of names.toSorted()) {
      signal.throwIfAborted();
      const path = below === '' ? name : `${below}/${name}`;
      if (inScope(path, skip)) continue;
      const what = await stat(join(folder, path)).catch(() => null);
      if (what?.isDirectory() === true) await walk(path, [...above, real]);
      else if (what?.isFile() === true) found.push(path);
      if (found.length > MOST_FILES) {
        throw new OperationalError(`${folder} has more than ${MOST_FILES} files.`, {
          remedy: 'A workspace gets a copy of it: move what no agent needs elsewhere.',
        });
      }
    }
  };
  await walk('', []);
  return found;
}
