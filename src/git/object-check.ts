/**
 * Git's own checks of objects that an agent may have made: no entry called `..` or `.git`, no broken
 * link, no bad mode, nothing missing. They are packed into a temporary file, and `index-pack --strict`
 * checks it, as for a push to a server.
 */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError, git, LONG_LIMIT_MS, type Sha, textOf } from './git.ts';
import { withTempFolder } from './temp-folder.ts';

/** A problem of the objects that `to` has and `from` has not; null where there is none. */
export async function objectProblem(
  dir: string,
  { from, to }: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<string | null> {
  if (from === to) return null;
  const limit = { limitMs: LONG_LIMIT_MS, config: { 'core.fsync': 'none' } };
  const check = async (folder: string): Promise<null> => {
    const pack = ['pack-objects', '--quiet', '--revs', join(folder, 'work')];
    await git(dir, pack, signal, { ...limit, stdin: `${to}\n^${from}\n` });
    for (const name of (await readdir(folder)).filter((each) => each.endsWith('.pack'))) {
      const index = ['index-pack', '--strict', '-o', join(folder, 'checked.idx')];
      await git(dir, [...index, join(folder, name)], signal, limit);
    }
    return null;
  };
  try {
    return await withTempFolder(dir, check);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return textOf(error.result);
  }
}
