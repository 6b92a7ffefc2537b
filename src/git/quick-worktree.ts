/**
 * quick-worktree: a new worktree registered without a process; its files are for git to fill.
 *
 *     <path>/.git                    gitdir: <commonDir>/worktrees/<id>
 *     <commonDir>/worktrees/<id>/    HEAD, commondir, gitdir (which names <path>/.git)
 *
 *   R1. The entry appears whole, by a rename: no git ever reads half of it.
 *       What a process that was killed had begun is swept away by the next engine.
 *   R2. It is done only where git would do the same: a repository without settings of single
 *       worktrees, a folder and a branch that are not there, a place that git does not know.
 *       Otherwise it says no and leaves nothing: ask git, which also tells what is wrong.
 */

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { OperationalError } from '../base/errors.ts';
import { begunIn } from './begun.ts';
import type { Sha } from './git.ts';
import { placesBelow } from './git-dir.ts';
import { writesPlainly } from './loose-object.ts';
import { moveRef } from './loose-ref.ts';

export interface Registration {
  readonly path: string;
  /** A new branch; null for a detached HEAD. */
  readonly branch: string | null;
  readonly commit: Sha;
  /** Throws where it must not be made any more. */
  readonly assertHeld?: () => void;
}

/** How many entries may have the same name before git is asked. */
const MOST_NAMESAKES = 1_000;

/** Registers the worktree; false where that is for git to do. */
export async function quickRegister(
  commonDir: string,
  { path, branch, commit, assertHeld }: Registration,
  signal: AbortSignal,
): Promise<boolean> {
  if (existsSync(path) || existsSync(`${commonDir}/config.worktree`)) return false;
  if (existsSync(`${commonDir}/info/sparse-checkout`)) return false;
  if (placesBelow(commonDir, dirname(path)).includes(path)) return false;
  if (!(await writesPlainly(commonDir, signal))) return false;
  const ref = `refs/heads/${branch}`;
  const none = '0'.repeat(commit.length);
  if (branch !== null && existsSync(`${commonDir}/${ref}`)) return false;
  const move = { ref, to: commit, from: none, assertHeld };
  if (branch !== null && (await moveRef(commonDir, move, signal)) !== true) return false;
  if (branch === null) assertHeld?.();
  const head = branch === null ? commit : `ref: ${ref}`;
  const entry = addEntry(commonDir, { head, gitdir: `${path}/.git`, commondir: '../..' });
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(path);
  const link = `${path}/.git.new`; // A folder with half a link would be somebody else's.
  writeFileSync(link, `gitdir: ${entry}\n`);
  renameSync(link, `${path}/.git`);
  return true;
}

/** Adds the entry under a name of its own, and answers with where it is. */
function addEntry(
  commonDir: string,
  { head, gitdir, commondir }: Record<'head' | 'gitdir' | 'commondir', string>,
): string {
  const making = begunIn(commonDir);
  mkdirSync(making);
  writeFileSync(`${making}/HEAD`, `${head}\n`);
  writeFileSync(`${making}/commondir`, `${commondir}\n`);
  writeFileSync(`${making}/gitdir`, `${gitdir}\n`);
  const folder = `${commonDir}/worktrees`;
  mkdirSync(folder, { recursive: true });
  const name = basename(dirname(gitdir)).replace(/[^\w-]+/g, '-');
  for (let nth = 0; nth < MOST_NAMESAKES; nth += 1) {
    const entry = join(folder, nth === 0 ? name : `${name}${nth}`);
    if (existsSync(entry)) continue;
    try {
      renameSync(making, entry);
      return entry;
    } catch {
      // Somebody else was faster.
    }
  }
  rmSync(making, { recursive: true });
  throw new OperationalError(`Too many worktrees are called ${name}: see \`git worktree list\`.`);
}
