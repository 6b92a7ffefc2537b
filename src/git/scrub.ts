/**
 * A worktree's own git folder as that of a new one: nothing in it tells what happened before.
 *
 *   S1. All that git keeps per worktree goes, whether it is known here or not (a merge, a rebase, a
 *       bisection, settings, refs, logs, messages), but what makes it a worktree and what is named.
 *   S2. HEAD is detached at a commit: no branch is held.
 *   S3. An index that cannot be read, or whose entries git was told not to look at, is built anew
 *       from the commit; the files are then compared by their content.
 *
 * The files are not touched: `restoreFiles` does that.
 */

import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { gitDirOf } from './git-dir.ts';
import { readIndexFile } from './index-file.ts';

/** Without these it is no worktree. */
const OWN = ['HEAD', 'commondir', 'gitdir', 'index'];

/** Writing files waits for the disk more than for a processor. */
export const CHECKOUT_WORKERS = Math.min(8, 2 * availableParallelism());

/**
 * Detaches HEAD and clears the worktree's git folder; files in `keep` stay. Answers whether the
 * index could be trusted: where it was built anew, the files may differ from it.
 */
export async function scrub(
  dir: string,
  { commit, keep }: { readonly commit: Sha; readonly keep: readonly string[] },
  signal: AbortSignal,
): Promise<boolean> {
  const gitDir = await gitDirOf(dir);
  const stays = new Set([...OWN, ...keep]);
  for (const name of readdirSync(gitDir)) {
    if (!stays.has(name)) await rm(join(gitDir, name), { recursive: true, force: true });
  }
  const next = join(gitDir, 'HEAD.next');
  writeFileSync(next, `${commit}\n`);
  renameSync(next, join(gitDir, 'HEAD'));
  if (await looksAtAll(dir, gitDir, signal)) return true;
  await rebuildIndex(dir, gitDir, signal);
  return false;
}

/** Deletes what git wrote down about moving HEAD: where it was before is nobody's business. */
export async function forgetMoves(dir: string): Promise<void> {
  const gitDir = await gitDirOf(dir);
  await rm(join(gitDir, 'logs'), { recursive: true, force: true });
  await rm(join(gitDir, 'ORIG_HEAD'), { force: true });
}

/** Brings every file that HEAD holds back to what it was, with its mode. */
export async function restoreFiles(dir: string, signal: AbortSignal): Promise<void> {
  await git(dir, ['reset', '--hard', '--quiet', '--no-recurse-submodules'], signal, {
    config: { 'checkout.workers': String(CHECKOUT_WORKERS), 'core.fileMode': 'true' },
    limitMs: LONG_LIMIT_MS,
  });
}

/** Removes every file that no commit holds, ignored ones too, but those that match a pattern. */
export async function removeUntracked(
  dir: string,
  except: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const keep = except.flatMap((pattern) => ['-e', pattern]);
  await git(dir, ['clean', '-q', '-ffdx', ...keep], signal, { limitMs: LONG_LIMIT_MS });
}

/** Whether git finds no difference between HEAD, the index and the tracked files. */
export async function isRestored(dir: string, signal: AbortSignal): Promise<boolean> {
  const args = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=no'];
  return (await git(dir, args, signal)).stdout === '';
}

/** Whether git looks at every entry of the index. */
async function looksAtAll(dir: string, gitDir: string, signal: AbortSignal): Promise<boolean> {
  const index = readIndexFile(gitDir);
  if (index === null || index.form === 'flagged') return false;
  if (index.form === 'plain') return true;
  const { code, stdout } = await git(dir, ['ls-files', '-v', '-z'], signal, {
    okCodes: [0, 128],
  });
  return code === 0 && splitNul(stdout).every((line) => line.startsWith('H '));
}

async function rebuildIndex(dir: string, gitDir: string, signal: AbortSignal): Promise<void> {
  await rm(join(gitDir, 'index'), { recursive: true, force: true });
  await git(dir, ['read-tree', 'HEAD'], signal);
  const options = { okCodes: [0, 1], limitMs: LONG_LIMIT_MS }; // 1: some files differ.
  await git(dir, ['update-index', '-q', '--refresh'], signal, options);
}
