/** Which contents files have in a commit, without reading them. */

import { git } from './git.ts';

/** One id per file, in order; `-` where the commit does not have it. */
export async function blobIds(
  dir: string,
  which: { readonly commit: string; readonly files: readonly string[] },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ['ls-tree', '-z', which.commit, '--', ...which.files];
  const { stdout } = await git(dir, args, signal);
  const ids = new Map<string, string>();
  for (const line of stdout.split('\0')) {
    const [meta = '', path] = line.split('\t');
    if (path !== undefined) ids.set(path, meta.split(' ')[2] ?? '-');
  }
  return which.files.map((file) => ids.get(file) ?? '-');
}
