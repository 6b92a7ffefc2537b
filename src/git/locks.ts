/**
 * Lock files that a killed git left behind.
 *
 *   K1. A lock that somebody may hold is never removed: it protects what it stands beside.
 */

import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../process/spawn.ts';
import { gitDirOf } from './git-dir.ts';

const LOCKS = ['index.lock', 'HEAD.lock'];
const PATIENCE_MS = 2_000;
const POLL_MS = 50;

/**
 * Removes the locks of one worktree and of its branch. Only for a worktree of our own in which
 * surely no process is alive any more: a lock does not say whose it is.
 */
export async function removeStaleLocks(
  { commonDir, dir, branch }: { commonDir: string; dir: string; branch: string | null },
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const gitDir = gitDirOf(dir);
  const own = LOCKS.map((name) => `${gitDir}/${name}`);
  const ofBranch = branch === null ? [] : [`${commonDir}/refs/heads/${branch}.lock`];
  for (const lock of [...own, ...ofBranch]) rmSync(lock, { force: true });
}

/** Whether git is just writing the index of a working tree, or has not begun one. */
export function isIndexBusy(dir: string): boolean {
  const gitDir = gitDirOf(dir);
  return existsSync(`${gitDir}/index.lock`) || !existsSync(`${gitDir}/index`);
}

/**
 * Removes the locks on refs and on the main checkout's index that nobody can hold: no git works in
 * the repository, whoever started it. One that does is given a while to finish. Answers with those
 * that had to stay.
 */
export async function removeDeadLocks(
  { commonDir, dir }: { readonly commonDir: string; readonly dir: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    signal.throwIfAborted();
    const locks = sharedLocks(commonDir);
    if (locks.length === 0) return [];
    if (!gitWorksIn([commonDir, dir])) {
      for (const lock of locks) rmSync(lock, { force: true });
      return [];
    }
    if (performance.now() > deadline) return locks;
    await sleep(POLL_MS);
  }
}

/** Locks on refs of ours, and whether somebody may hold one. */
export function ownLocks(
  { commonDir, dir }: { readonly commonDir: string; readonly dir: string },
  signal: AbortSignal,
): { readonly locks: readonly string[]; readonly busy: boolean } {
  signal.throwIfAborted();
  const ours = [join('refs', 'heads', 'landfast') + sep, join('refs', 'landfast') + sep];
  const locks = sharedLocks(commonDir).filter((lock) =>
    ours.some((below) => lock.startsWith(join(commonDir, below))),
  );
  return { locks, busy: locks.length > 0 && gitWorksIn([commonDir, dir]) };
}

function sharedLocks(commonDir: string): readonly string[] {
  const own = ['index.lock', 'HEAD.lock', 'packed-refs.lock', 'config.lock'];
  const present = new Set(readdirSync(commonDir));
  const refs = readdirSync(join(commonDir, 'refs'), { recursive: true, encoding: 'utf8' });
  return [
    ...own.filter((name) => present.has(name)),
    ...refs.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name)),
  ].map((name) => join(commonDir, name));
}

/**
 * Whether a git process works in one of the folders; true where the system does not tell. A git
 * that waits for an editor or a hook has closed its lock, so that open files alone say nothing.
 */
function gitWorksIn(folders: readonly string[]): boolean {
  const places = folders.map((folder) => realpathSync(folder));
  try {
    return readdirSync('/proc').some((pid) => {
      if (!/^\d+$/.test(pid) || !isGit(pid)) return false;
      const cwd = cwdOf(pid);
      if (cwd === 'over') return false;
      return cwd === null || places.some((place) => cwd === place || cwd.startsWith(place + sep));
    });
  } catch {
    return true;
  }
}

function isGit(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, name = '', state = ''] = /\((.*)\) (.)/s.exec(stat) ?? [];
    return name.startsWith('git') && state !== 'Z';
  } catch {
    return false; // It has just ended.
  }
}

/** Null where the system does not tell; `over` for one that has ended, or is about to. */
function cwdOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOENT' || code === 'ESRCH' ? 'over' : null;
  }
}
