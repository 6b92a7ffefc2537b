/** proof: after landing, every commit of every task's work is in the history. One git process. */

import { git } from '../git/git.ts';
import type { Sha } from '../model/plan.ts';

/** The first commit that belongs to one of the works and is not reachable from `tip`, or null. */
export async function missingFrom(
  dir: string,
  tip: Sha,
  works: readonly Sha[],
  signal: AbortSignal,
): Promise<Sha | null> {
  if (works.length === 0) return null;
  const stdin = `${[...works, `^${tip}`].join('\n')}\n`;
  const args = ['rev-list', '--max-count=1', '--stdin'];
  const { stdout } = await git(dir, args, signal, { stdin });
  return stdout.trim() || null;
}
