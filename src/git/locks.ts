/** Lock files that a killed git left behind. One that a live process may hold is never removed. */

import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSystemError, rethrowBug, trySystem } from '../base/errors.ts';
import { gitDirOf } from './git-dir.ts';

const PATIENCE_MS = 2_000;
const POLL_MS = 50;

/** Only for a workspace in which no process is alive any more: a lock does not name its owner. */
export async function removeStaleLocks(
  { commonDir, dir, branch }: { commonDir: string; dir: string; branch: string | null },
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const gitDir = gitDirOf(dir);
  const own = [`${gitDir}/index.lock`, `${gitDir}/HEAD.lock`];
  const ofBranch = branch === null ? [] : [`${commonDir}/refs/heads/${branch}.lock`];
  for (const lock of [...own, ...ofBranch]) rmSync(lock, { force: true });
}

/** Whether git is writing the index of a working tree, or has not yet. */
export function isIndexBusy(dir: string): boolean {
  const gitDir = gitDirOf(dir);
  return existsSync(`${gitDir}/index.lock`) || !existsSync(`${gitDir}/index`);
}

/**
 * Removes the locks on refs and on the main checkout's index while no git process works in the
 * repository. One that does gets a while to finish. Returns the locks that had to stay.
 */
export async function removeDeadLocks(
  { commonDir, dir }: { readonly commonDir: string; readonly dir: string },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    signal.throwIfAborted();
    const locks = await sharedLocks(commonDir);
    if (locks.length === 0) return [];
    if (!gitWorksIn([commonDir, dir])) {
      for (const lock of locks) rmSync(lock, { force: true });
      return [];
    }
    if (performance.now() > deadline) return locks;
    await sleep(POLL_MS);
  }
}

/** Locks on refs of Landfast, and whether a git process may hold one. */
export async function ownLocks(
  { commonDir, dir }: { readonly commonDir: string; readonly dir: string },
  signal: AbortSignal,
): Promise<{ readonly locks: readonly string[]; readonly busy: boolean }> {
  signal.throwIfAborted();
  const own = [join('refs', 'heads', 'landfast') + sep, join('refs', 'landfast') + sep];
  const locks = (await sharedLocks(commonDir)).filter((lock) =>
    own.some((below) => lock.startsWith(join(commonDir, below))),
  );
  return { locks, busy: locks.length > 0 && gitWorksIn([commonDir, dir]) };
}

async function sharedLocks(commonDir: string): Promise<readonly string[]> {
  const own = ['index.lock', 'HEAD.lock', 'packed-refs.lock', 'config.lock'];
  const present = new Set(readdirSync(commonDir));
  const refs = await readdir(join(commonDir, 'refs'), { recursive: true, encoding: 'utf8' });
  return [
    ...own.filter((name) => present.has(name)),
    ...refs.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name)),
  ].map((name) => join(commonDir, name));
}

/**
 * Whether a git process works in one of the folders; true where that is unknown. A git that waits
 * for an editor or a hook has closed its lock, so open files are no evidence.
 */
function gitWorksIn(folders: readonly string[]): boolean {
  const places = folders.map((folder) => realpathSync(folder));
  const pids = trySystem(() => readdirSync('/proc'), null);
  if (pids === null) return true;
  return pids.some((pid) => {
    if (!/^\d+$/.test(pid) || !isGit(pid)) return false;
    const cwd = cwdOf(pid);
    if (cwd === 'over') return false;
    return cwd === null || places.some((place) => cwd === place || cwd.startsWith(place + sep));
  });
}

/** False for one that has just ended. */
function isGit(pid: string): boolean {
  const stat = trySystem(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  const [, name = '', state = ''] = /\((.*)\) (.)/s.exec(stat) ?? [];
  return name.startsWith('git') && state !== 'Z';
}

/** Null where it is unknown; `over` for a process that has ended, or is about to. */
function cwdOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    rethrowBug(error);
    return isSystemError(error, 'ENOENT', 'ESRCH') ? 'over' : null;
  }
}
