/** Which commits lie between two others. */

import { git, type Sha } from './git.ts';

/** A commit and what it was made on. */
export interface Step {
  readonly commit: Sha;
  readonly parents: readonly Sha[];
}

/** The commits that `to` has and `from` has not, parents before children. */
export async function commitsAfter(
  dir: string,
  { from, to }: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<readonly Step[]> {
  const args = ['rev-list', '--reverse', '--topo-order', '--parents', `^${from}`, to];
  const { stdout } = await git(dir, args, signal);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [commit = '', ...parents] = line.split(' ');
    return { commit, parents };
  });
}
