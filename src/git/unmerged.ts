/** How much of a worktree is nowhere else: commits that a branch does not hold, loose files. */

import { git, splitNul } from './git.ts';
import { hiddenChanges } from './hidden.ts';
import { readRef } from './refs.ts';

/** Commits beyond `target` (all of them where there is no such branch), and files in no commit. */
export async function unmergedIn(
  dir: string,
  target: string | null,
  signal: AbortSignal,
): Promise<{ readonly commits: number; readonly files: number }> {
  const tip = target === null ? null : await readRef(dir, `refs/heads/${target}`, signal);
  const [commits, status, hidden] = await Promise.all([
    git(dir, ['rev-list', '--count', 'HEAD', ...(tip === null ? [] : [`^${tip}`])], signal),
    git(dir, ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all'], signal),
    hiddenChanges(dir, signal),
  ]);
  const files = splitNul(status.stdout).length + hidden.length;
  return { commits: Number(commits.stdout.trim()), files };
}
