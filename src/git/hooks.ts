/**
 * Hooks that git would have run, where we do what it does in another way.
 *
 * We add worktrees without a checkout (worktree.ts, W1) and thereby without post-checkout, but
 * people use it to prepare new worktrees; a checkout follows without a merge (follow.ts), but
 * people use post-merge to install what is new. As with git, a failure changes nothing.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { GitError, GitTimeoutError, git, LONG_LIMIT_MS, type Sha } from './git.ts';
import { pathSet } from './settings.ts';

/** Runs the hook of a new worktree if there is one. */
export async function runPostCheckout(
  commonDir: string,
  worktree: { readonly path: string; readonly commit: Sha },
  signal: AbortSignal,
): Promise<void> {
  const { path, commit } = worktree;
  const none = '0'.repeat(commit.length); // Tells a hook that the worktree is new.
  await runHook(commonDir, path, ['post-checkout', '--', none, commit, '1'], signal);
}

/** Runs the hook of a checkout that was brought forward, if there is one. */
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
  const hook = join(await hooksDirOf(commonDir, path, signal), name);
  if (!existsSync(hook)) return;
  const args = ['hook', 'run', '--ignore-missing', name, ...words];
  try {
    await git(path, args, signal, { limitMs: LONG_LIMIT_MS });
  } catch (error) {
    if (!(error instanceof GitError || error instanceof GitTimeoutError)) throw error;
  }
}

/** Whether any hook is installed; git's samples are not. */
export async function hooksIn(
  commonDir: string,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  const folder = await hooksDirOf(commonDir, path, signal);
  // Users turn hooks off with `core.hooksPath=/dev/null`, which is there and no folder.
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return readdirSync(folder).some((name) => !name.endsWith('.sample'));
}

/** Whether a hook of that name may be there, as far as that does not depend on a worktree. */
export async function mayHaveHook(
  commonDir: string,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const setting = await pathSet(commonDir, 'core.hookspath', signal);
  if (setting !== null && !isAbsolute(setting)) return true;
  return existsSync(`${setting ?? `${commonDir}/hooks`}/${name}`);
}

/** A relative core.hooksPath counts from the worktree. */
async function hooksDirOf(commonDir: string, path: string, signal: AbortSignal): Promise<string> {
  const setting = await pathSet(commonDir, 'core.hookspath', signal);
  return setting === null ? `${commonDir}/hooks` : resolve(path, setting);
}
