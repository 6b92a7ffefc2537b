/**
 * pool: workspaces that are done with, moved to the next task instead of made anew.
 *
 *   P1. Only a workspace in which nothing is left, not even an ignored file, goes into the pool:
 *       whoever gets it sees nothing of the task before.
 *   P2. An idle workspace is a folder `.idle-…` of the run. Those that a dead engine left are not
 *       taken up again; they go when the run is tidied up.
 */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { git } from '../git/git.ts';
import { gitDirOf } from '../git/git-dir.ts';
import { hasNoEmptyFolder, isOrdinary } from '../git/ordinary.ts';
import { dropWorktree, moveWorktree, removeWorktree } from '../git/worktree.ts';

const IDLE = '.idle-';

export class Pool {
  readonly #idle: string[] = [];
  readonly #pristine = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Remembers that a workspace holds nothing beyond its last commit: nothing runs in it now. */
  note(dir: string): void {
    this.#pristine.add(dir);
  }

  /** Whether that was said of a workspace; once, because somebody may use it afterwards. */
  isNoted(dir: string): boolean {
    return this.#pristine.delete(dir);
  }

  /** Takes a pristine workspace in, or says that it has no use for it. */
  async put(dir: string, folder: string, signal: AbortSignal): Promise<boolean> {
    // Submodules know where they are; a workspace with one cannot be moved.
    if (this.#idle.length >= this.#most || existsSync(join(dir, '.gitmodules'))) return false;
    await rm(join(await gitDirOf(dir), SETUP_DONE), { force: true });
    if (!(await isOrdinary(dir))) return false;
    // Of empty folders no status tells.
    if (!hasNoEmptyFolder(dir)) await git(dir, ['clean', '-q', '-ffdx'], signal);
    const place = join(folder, `${IDLE}${randomUUID()}`);
    await mkdir(folder, { recursive: true });
    await moveWorktree(dir, place);
    this.#idle.push(place);
    return true;
  }

  /** Drops an idle workspace, for its room; answers with where it was, null where there is none. */
  async shed(commonDir: string, signal: AbortSignal): Promise<string | null> {
    const place = this.#idle.pop();
    if (place === undefined) return null;
    await removeWorktree(commonDir, place, signal);
    return place;
  }

  /** Moves an idle workspace to a folder; its files are those of some earlier commit. */
  async take(dir: string): Promise<boolean> {
    const place = this.#idle.pop();
    if (place === undefined) return false;
    await mkdir(dirname(dir), { recursive: true });
    await moveWorktree(place, dir);
    return true;
  }
}

/** Marks, in a workspace's own git folder, that its set-up has been done, and for what. */
export const SETUP_DONE = 'landfast-setup';

/** Drops the idle workspaces of a run, whoever left them; their files go with the folder. */
export async function dropIdle(
  commonDir: string,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(IDLE))) {
    await dropWorktree(commonDir, join(folder, name), signal);
  }
}
