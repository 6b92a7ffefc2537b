/** Removes what a working tree holds and no commit does. */

import { pause } from '../base/pause.ts';
import { literalPattern } from './exclude.ts';
import { git, LONG_LIMIT_MS } from './git.ts';

/** Removes every file that no commit holds, ignored ones and repositories too, but these. */
export async function removeUntracked(
  dir: string,
  except: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const keep = except.flatMap((path) => ['-e', literalPattern(path)]);
  await git(dir, ['clean', '-q', '-ffdx', ...keep], signal, { limitMs: LONG_LIMIT_MS });
}

/**
 * Lets the files of a new worktree become older than its index: as long as both are of the same
 * second, git reads every file again each time it looks. Only its status notices and notes that.
 */
export async function settleIndex(dir: string, signal: AbortSignal): Promise<void> {
  await pause(SECOND_MS + TICK_MS - (Date.now() % SECOND_MS), signal);
  const env = { GIT_OPTIONAL_LOCKS: '1' };
  await git(dir, ['status', '--porcelain', '--untracked-files=no'], signal, { env });
}

const SECOND_MS = 1_000;
/** What the clock of a file system may be behind ours. */
const TICK_MS = 20;
