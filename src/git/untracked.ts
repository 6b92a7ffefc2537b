/** Files git does not hold but a workspace may need. */

import { git } from './git.ts';

/** Untracked files, ignored ones included, that match patterns in git's ignore syntax. */
export async function untrackedMatching(
  dir: string,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const exclude = patterns.flatMap((pattern) => ['-x', pattern]);
  const args = ['ls-files', '-z', '--others', '--ignored', ...exclude];
  const { stdout } = await git(dir, args, signal);
  return stdout.split('\0').filter((path) => path !== '');
}
