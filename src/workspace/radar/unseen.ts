/**
 * What a live workspace holds only in its index: where some folders are checked out and others not,
 * a commit or a merge may change a file that is nowhere on the disk.
 */

import type { TreeEntry } from '../../git/edit-tree.ts';
import { git, splitNul } from '../../git/git.ts';

/** More do not fit into a command line. */
const MOST_NAMED = 500;

/** Those of the paths that git skips because they are not checked out, as the index has them. */
export async function unseenOf(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TreeEntry>> {
  if (paths.length === 0) return new Map();
  const named = paths.length > MOST_NAMED ? [] : paths;
  const args = ['ls-files', '-t', '--stage', '-z', '--', ...named];
  const env = { GIT_LITERAL_PATHSPECS: '1' };
  const lines = splitNul((await git(dir, args, signal, { env })).stdout);
  const wanted = new Set(paths);
  const found = new Map<string, TreeEntry>();
  for (const line of lines) {
    const [, mode = '', object = '', path = ''] = /^S (\d+) (\w+) 0\t(.*)$/s.exec(line) ?? [];
    if (wanted.has(path)) found.set(path, { mode, object });
  }
  return found;
}
