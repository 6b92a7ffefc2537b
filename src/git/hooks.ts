/**
 * Hooks that git would have run, where Landfast does its work in another way.
 *
 * Worktrees are added without a checkout (worktree.ts) and thereby without post-checkout, which
 * people use to prepare new worktrees; a checkout is fast-forwarded without a merge, but people use
 * post-merge to install new dependencies. As with git, a failure changes nothing.
 */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GitError, GitTimeoutError, git, LONG_LIMIT_MS, type Sha } from './git.ts';
import { areShared, pathSet, settingsIn } from './settings.ts';

export async function runPostCheckout(
  commonDir: string,
  worktree: { readonly path: string; readonly commit: Sha },
  signal: AbortSignal,
): Promise<void> {
  const { path, commit } = worktree;
  const none = '0'.repeat(commit.length); // Tells a hook that the worktree is new.
  await runHook(commonDir, path, ['post-checkout', '--', none, commit, '1'], signal);
}

export async function runPostMerge(
  commonDir: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  await runHook(commonDir, path, ['post-merge', '--', '0'], signal); // It was no squash.
}

async function runHook(
  commonDir: string,
  path: string,
  [name = '', ...words]: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (!(await mayBeThere(commonDir, path, name, signal))) return;
  const args = ['hook', 'run', '--ignore-missing', name, ...words];
  try {
    await git(path, args, signal, { limitMs: LONG_LIMIT_MS });
  } catch (error) {
    if (!(error instanceof GitError || error instanceof GitTimeoutError)) throw error;
  }
}

/** False only where git would find none; a relative core.hooksPath starts at the worktree. */
async function mayBeThere(
  commonDir: string,
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!areShared(await settingsIn(commonDir, signal))) return true;
  const setting = await pathSet(commonDir, 'core.hookspath', signal);
  return existsSync(join(setting === null ? `${commonDir}/hooks` : resolve(path, setting), name));
}
