/**
 * A worktree's own git folder as that of a new one: nothing in it tells what happened before.
 *
 *   S1. All that git keeps per worktree goes, whether it is known here or not (a merge, a rebase, a
 *       bisection, settings, refs, logs, messages), but what makes it a worktree and what is named.
 *   S2. HEAD is detached at a commit: no branch is held.
 *   S3. An index that cannot be read, or whose entries git was told not to look at, is built anew
 *       from the commit; the files are then compared by their content.
 *   S4. A cone of ours (sparse.ts) stays, as it was when the worktree was new.
 *
 * The files are not touched: `restoreFiles` does that.
 */

import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { pause } from '../base/pause.ts';
import { capture } from '../process/capture.ts';
import { literalPattern } from './exclude.ts';
import { git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { gitDirOf, removeOwn } from './git-dir.ts';
import { readIndexFile } from './index-file.ts';
import { coneOf, isConeChanged, setCone } from './sparse.ts';

/** Without these it is no worktree. */
const OWN = ['HEAD', 'commondir', 'gitdir', 'index'];

/** Writing files waits for the disk more than for a processor; a few are not worth a process. */
export const CHECKOUT_WORKERS = {
  'checkout.workers': String(Math.min(8, 2 * availableParallelism())),
  'checkout.thresholdForParallelism': '1000',
};

/**
 * Detaches HEAD and clears the worktree's git folder; files in `keep` stay. Answers whether index
 * and cone could be trusted: where not, the files may differ from them.
 */
export async function scrub(
  dir: string,
  { commit, keep }: { readonly commit: Sha; readonly keep: readonly string[] },
  signal: AbortSignal,
): Promise<boolean> {
  const gitDir = await gitDirOf(dir);
  const cone = coneOf(dir);
  const isSameCone = !isConeChanged(dir);
  const stays = new Set([...OWN, ...keep]);
  for (const name of readdirSync(gitDir)) {
    if (!stays.has(name)) rmSync(`${gitDir}/${name}`, { recursive: true, force: true });
  }
  if (cone !== null) await setCone(dir, cone);
  const next = `${gitDir}/HEAD.next`;
  writeFileSync(next, `${commit}\n`);
  renameSync(next, `${gitDir}/HEAD`);
  if (isSameCone && (await looksAtAll(dir, gitDir, signal))) return true;
  await rebuildIndex(dir, gitDir, signal);
  return false;
}

/** Deletes what git wrote down about moving HEAD: where it was before is nobody's business. */
export async function forgetMoves(dir: string): Promise<void> {
  await removeOwn(dir, ['logs', 'ORIG_HEAD']);
}

/** Brings every file that HEAD holds back to what it was, with its mode. */
export async function restoreFiles(dir: string, signal: AbortSignal): Promise<void> {
  await git(dir, ['reset', '--hard', '--quiet', '--no-recurse-submodules'], signal, {
    config: { ...CHECKOUT_WORKERS, 'core.fileMode': 'true' },
    limitMs: LONG_LIMIT_MS,
  });
}

/** Removes every file that no commit holds, ignored ones too, but these. */
export async function removeUntracked(
  dir: string,
  except: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const keep = except.flatMap((path) => ['-e', literalPattern(path)]);
  await git(dir, ['clean', '-q', '-ffdx', ...keep], signal, { limitMs: LONG_LIMIT_MS });
  if (coneOf(dir) !== null) await removeEmptyFolders(dir, except, signal);
}

/** To git a folder that is not checked out is one of the commit's: it leaves it where it is. */
async function removeEmptyFolders(
  dir: string,
  except: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const paths = ['.git', ...except].map((path) => `./${globOf(path)}`);
  const spared = paths.flatMap((path) => ['!', '-path', path, '!', '-path', `${path}/*`]);
  const args = ['.', '-mindepth', '1', '-depth', '-type', 'd', '-empty', ...spared, '-delete'];
  const command = { file: 'find', args, cwd: dir, env: process.env, stdin: '' };
  await capture({ ...command, limitMs: LONG_LIMIT_MS }, signal);
}

/** A path as a pattern of `find` that means only this path. */
export function globOf(path: string): string {
  return path.replace(/\/$/, '').replace(/[\\*?[\]]/g, '\\$&');
}

/** Whether git finds no difference between HEAD, the index and the tracked files. */
export async function isRestored(dir: string, signal: AbortSignal): Promise<boolean> {
  const args = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=no'];
  return (await git(dir, args, signal)).stdout === '';
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

/** Whether git looks at every entry of the index. */
async function looksAtAll(dir: string, gitDir: string, signal: AbortSignal): Promise<boolean> {
  const index = readIndexFile(gitDir);
  const isSparse = coneOf(dir) !== null;
  if (index === null || (index.form === 'flagged' && !isSparse)) return false;
  if (index.form === 'plain') return true;
  const args = ['ls-files', '-v', '-z', ...(isSparse ? ['--sparse'] : [])];
  const { code, stdout } = await git(dir, args, signal, { okCodes: [0, 128] });
  // What a cone leaves out git skips (S), and what it should not skip it finds by the cone.
  const isSeen = isSparse ? /^[HS] / : /^H /;
  return code === 0 && splitNul(stdout).every((line) => isSeen.test(line));
}

async function rebuildIndex(dir: string, gitDir: string, signal: AbortSignal): Promise<void> {
  rmSync(`${gitDir}/index`, { recursive: true, force: true });
  await git(dir, ['read-tree', 'HEAD'], signal);
  const options = { okCodes: [0, 1], limitMs: LONG_LIMIT_MS }; // 1: some files differ.
  await git(dir, ['update-index', '-q', '--refresh'], signal, options);
}
