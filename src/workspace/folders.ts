/**
 * folders: where workspaces are, and what keeps them apart from everything else.
 *
 * Unless the user names another folder, workspaces are siblings of the repository: never inside
 * `.git`, where agents refuse to edit, nor inside a checkout, where tools would find every file
 * twice. Paths are made of ids that the plan has checked. No folder name begins with a dot:
 * programs refuse to serve files from there, or overlook them.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isSystemError, messageOf, OperationalError } from '../base/errors.ts';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import { realOf } from '../git/git-dir.ts';
import type { Repository } from '../git/repository.ts';
import { ownerOf } from '../git/worktree.ts';
import { readNote, writeNote } from '../git/worktree-notes.ts';
import { workspaceName } from '../model/names.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import { existing, namesIn } from './disk.ts';
import { isIdle } from './pool/idle-worktrees.ts';
import { type RunContext, specOf } from './run-context.ts';

export interface Folders {
  readonly repository: Repository;
  readonly plan: Pick<Plan, 'workspace'>;
}

/** The folder that the workspaces of all runs are in. */
export function workspacesFolder({ repository, plan }: Folders): string {
  const { dir } = plan.workspace;
  return dir === undefined ? repository.worktreesDir : resolve(repository.dir, dir);
}

/** The run's own folder, for workspaces that are named after it. */
export function runFolder(context: RunContext): string {
  return join(workspacesFolder(context), context.run);
}

/** Workspaces that wait for a task; a folder that the user named may be shared by repositories. */
export function poolFolder(of: Folders): string {
  const { commonDir, worktreesDir } = of.repository;
  const folder = workspacesFolder(of);
  if (folder === worktreesDir) return join(folder, POOL);
  return join(
    folder,
    `${POOL}-${createHash('sha256').update(commonDir).digest('hex').slice(0, 8)}`,
  );
}

export function poolDirs(of: Folders): readonly string[] {
  const folder = poolFolder(of);
  return namesIn(folder).map((name) => join(folder, name));
}

/** No task has a dot in its name that would make it this folder's. */
const POOL = 'landfast.pool';

export function workspaceDir(
  context: Pick<RunContext, 'repository' | 'run' | 'plan'>,
  task: TaskId,
): string {
  const { plan, run } = context;
  const name = workspaceName(plan.conventions, run, specOf(context, task));
  return join(workspacesFolder(context), name);
}

/** Whether a task's folder is free or its own, not the user's or of a run with the same names. */
export async function isOwn(context: RunContext, task: TaskId): Promise<boolean> {
  const dir = workspaceDir(context, task);
  if (dir.startsWith(join(runFolder(context), sep))) return true;
  if (isIdle(dir)) return true; // The next task takes it.
  return ownerOf(dir) === ownerName(context, task) || (await isEmpty(dir));
}

export function ownerName({ run }: RunContext, task: TaskId): string {
  return `${run}/${task}`;
}

async function isEmpty(dir: string): Promise<boolean> {
  try {
    return (await readdir(dir)).length === 0;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return isSystemError(error, 'ENOENT');
  }
}

/** The folder of a run's workspaces for verifying candidates, beside those of its tasks. */
export function gatesFolder(of: Folders & { readonly run: string }): string {
  return join(plainFolder(of), `${of.run}.gates`);
}

/**
 * The folder that all workspaces are in, unless it is hidden or in a checkout, where gates would find
 * that project's settings and packages.
 */
export function plainFolder(of: Folders): string {
  const { worktreesDir } = of.repository;
  const folder = workspacesFolder(of);
  return folder === worktreesDir || isPlain(realPlace(folder), worktreesDir)
    ? folder
    : worktreesDir;
}

/** The repository's own ancestors do not count: the user's tests run below them as well. */
function isPlain(dir: string, beside: string): boolean {
  if (beside.startsWith(join(dir, sep))) return true;
  if (basename(dir).startsWith('.') || existsSync(join(dir, '.git'))) return false;
  return isPlain(dirname(dir), beside);
}

/** Where a folder is, or will be, without links: what programs see of it. */
function realPlace(dir: string): string {
  if (existsSync(dir) || dirname(dir) === dir) return realOf(dir);
  return join(realPlace(dirname(dir)), basename(dir));
}

export function gateDir(context: RunContext, slot: number): string {
  return join(gatesFolder(context), `gate-${slot}`);
}

/** All gate workspaces; there may be more than gates run at a time. */
export function gateDirs(context: RunContext): readonly string[] {
  const folder = gatesFolder(context);
  return namesIn(folder)
    .filter((name) => /^gate-\d+$/.test(name))
    .map((name) => join(folder, name));
}

/** Throws where no workspace could be made there. The folder itself is not made yet. */
export function requireWorkspacesFolder(of: Folders): void {
  const folder = workspacesFolder(of);
  const { commonDir } = of.repository;
  if (`${folder}${sep}`.startsWith(`${commonDir}${sep}`)) {
    throw refusal(of, 'it is in the git directory, where agents edit nothing');
  }
  try {
    tryFolder(existing(folder));
  } catch (error) {
    throw refusal(of, messageOf(error));
  }
}

function tryFolder(place: string): void {
  const tried = mkdtempSync(join(place, '.landfast-'));
  try {
    writeFileSync(join(tried, 'file'), '');
  } finally {
    rmSync(tried, { recursive: true, force: true });
  }
}

function refusal(of: Folders, why: string): OperationalError {
  const { dir } = of.plan.workspace;
  const named = dir === undefined ? '' : ` (workspace.dir: ${dir})`;
  const message = `Workspaces cannot be made in ${workspacesFolder(of)}${named}: ${why}`;
  const remedy = 'Set workspace.dir to a folder that you may write to, outside of any .git.';
  return new OperationalError(message, { remedy });
}

const NOTE = 'folder';

/** Records the identity of the folder of a workspace (device and inode). */
export function rememberFolder(dir: string): void {
  writeNote(dir, NOTE, identityOf(dir));
}

/** Whether it is still that folder: an agent may have replaced it, and git would see deletions. */
export function isSameFolder(dir: string): boolean {
  return (readNote(dir, NOTE) ?? identityOf(dir)) === identityOf(dir);
}

function identityOf(dir: string): string {
  const stat = statSync(dir, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.dev} ${stat.ino}`;
}

/**
 * Excludes the folder of the workspaces where it is in the checkout. Where it is the checkout
 * itself, these folders and that of the pool are.
 */
export async function hide(
  of: Folders,
  dirs: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { dir: checkout, commonDir } = of.repository;
  const below = (path: string): string => relative(checkout, path);
  const folder = below(workspacesFolder(of));
  if (folder.startsWith('..') || isAbsolute(folder)) return;
  const paths = folder === '' ? [...dirs, poolFolder(of)].map(below) : [folder];
  const patterns = paths.map((path) => `${literalPattern(path)}/`);
  await addExcludes(commonDir, patterns, signal);
}
