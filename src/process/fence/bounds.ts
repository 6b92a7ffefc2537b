/**
 * bounds: which paths a fenced attempt may write, decided once and for every platform.
 *
 * A commit in a linked worktree writes, of what all worktrees share (`<common>`):
 *
 *     <common>/worktrees/<name>/      its index, HEAD, the log of HEAD, messages
 *     <common>/objects/xx/            new objects, one file each
 *     <common>/refs/heads/…/<branch>  by a `.lock` beside it, which is then renamed
 *     <common>/logs/refs/heads/…      one line is added
 *
 * - Nothing else of `<common>` can be written: not `config`, `hooks`, `packed-refs`, nor the refs
 *   of others outside of the branch's own folder.
 * - What tells git where the repository is and how to behave stays as it is, although it lies in
 *   writable folders: `.git` of the workspace, `commondir`, `gitdir`, `config.worktree`. We run git
 *   in the workspace outside of the fence, and must not run what an agent put there.
 * - Packs and alternates stay as they are: history that has been packed cannot be damaged.
 * - All paths are real ones. A mount on a symbolic link would miss, or hit another file.
 * - A cache never holds the repository, and is never inside of its git folder.
 */

import { closeSync, existsSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { assert } from '../../base/assert.ts';
import { OperationalError, trySystem, UserError } from '../../base/errors.ts';
import { makeFolders } from '../../base/make-folders.ts';

/** Where an attempt may write, besides its temp folder. All paths are real and absolute. */
export interface Bounds {
  /** Folders with all that is in them, or single files. */
  readonly writable: readonly string[];
  /** Parts of those that stay read-only. */
  readonly kept: readonly string[];
  /** The branch's own two files; null where HEAD is detached or refs are no files. */
  readonly branch: { readonly ref: string; readonly log: string } | null;
  /** The user's checkout, or a repository without one: must be seen wherever it lies. */
  readonly checkout: string;
  readonly network: NetworkRule;
}

/** All of the network, none, or only a proxy that listens on a socket (egress.ts). */
export type NetworkRule = 'on' | 'off' | { readonly proxy: string };

/** What one attempt may do. All paths are absolute. */
export interface FenceRules {
  /** A linked worktree. */
  readonly workspace: string;
  /** The git folder that all worktrees share. */
  readonly commonDir: string;
  /** The full ref that is checked out in the workspace; null where HEAD is detached. */
  readonly branchRef: string | null;
  /** Caches and the agent's own state. Missing folders are made, for the owner only. */
  readonly writable: readonly string[];
  readonly network: NetworkRule;
}

/** Finds the paths, and makes those that must exist before they can be fenced. */
export function boundsOf(rules: FenceRules): Bounds {
  const workspace = realpathSync(rules.workspace);
  const commonDir = realpathSync(rules.commonDir);
  const checkout = basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
  const admin = adminOf(workspace, commonDir);
  const objects = join(commonDir, 'objects');
  const kept = [join(objects, 'info'), join(objects, 'pack')];
  for (const dir of kept) makeFolders(dir);
  const settings = ['commondir', 'gitdir', 'config.worktree'].map((name) => join(admin, name));
  makeFile(join(admin, 'config.worktree'));
  const caches = rules.writable.map((path) => cacheAt(path, { checkout, commonDir }));
  return {
    writable: [...new Set([...caches, workspace, admin, objects])],
    kept: [...kept, join(workspace, '.git'), ...settings],
    branch: branchAt(commonDir, rules.branchRef),
    checkout,
    network: rules.network,
  };
}

/** Whether a path is the folder or inside it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : folder + sep);
}

/** The workspace's own folder in the common one, which its file `.git` names. */
function adminOf(workspace: string, commonDir: string): string {
  // Unreadable where it is a folder: this is no linked worktree.
  const link = trySystem(() => readFileSync(join(workspace, '.git'), 'utf8'), null);
  const admin = link === null ? null : resolve(workspace, link.replace(/^gitdir: /, '').trimEnd());
  if (admin !== null && existsSync(admin)) {
    const real = realpathSync(admin);
    if (dirname(real) === join(commonDir, 'worktrees')) return real;
  }
  throw new OperationalError(`${workspace} is not a worktree of ${commonDir}`);
}

/** The log must be there before: it is fenced as a single file, in a folder of others' logs. */
function branchAt(commonDir: string, branchRef: string | null): Bounds['branch'] {
  if (branchRef === null || existsSync(join(commonDir, 'reftable'))) return null;
  const isOwn = /^refs\/heads\/[^/]+\/./.test(branchRef) && !/(?:^|\/)\.|\/$/.test(branchRef);
  assert(isOwn, `a fenced branch needs a folder below refs/heads/: ${branchRef}`);
  const ref = join(commonDir, branchRef);
  const log = join(commonDir, 'logs', branchRef);
  makeFolders(dirname(ref));
  makeFolders(dirname(log));
  makeFile(log);
  return { ref, log };
}

function makeFile(path: string): void {
  closeSync(openSync(path, 'a'));
}

function cacheAt(
  path: string,
  { checkout, commonDir }: { readonly checkout: string; readonly commonDir: string },
): string {
  const remedy = 'Name a folder such as a package cache, by its absolute path.';
  if (!isAbsolute(path)) throw new UserError(`the cache ${path} is not an absolute path`, remedy);
  if (!existsSync(path)) makeFolders(path, 0o700);
  const real = realpathSync(path);
  if (isWithin(checkout, real) || isWithin(real, commonDir)) {
    throw new UserError(`the cache ${path} would open the repository to agents`, remedy);
  }
  return real;
}
