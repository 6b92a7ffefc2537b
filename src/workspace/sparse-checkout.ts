/**
 * sparse-checkout: which folders of a large repository the workspace of a task holds: what the task
 * may write, its working folder, what the plan names besides, and the root's files and dot folders,
 * which hold the settings of tools. Where that is not sure, or not less than everything, everything
 * is checked out.
 */

import { existsSync } from 'node:fs';
import { otherwise } from '../base/errors.ts';
import { git, splitNul } from '../git/git.ts';
import { type Cone, coneOf, programEnvironment } from '../git/sparse.ts';
import { showWritten } from '../git/status.ts';
import { entriesOf } from '../git/trees.ts';
import { outermost, placesOf } from '../model/cone.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { workspaceDir } from './folders.ts';
import { type RunContext, specOf } from './run-context.ts';

/** The folders for a task's workspace at a commit; null for all of them. */
export async function coneFor(
  context: RunContext,
  { task, commit }: { readonly task: TaskId; readonly commit: Sha },
  signal: AbortSignal,
): Promise<Cone | null> {
  const { sparse = 'off', sparseAlso = [] } = context.plan.workspace;
  const { mode, writes, cwd } = specOf(context, task);
  if (sparse === 'off' || mode !== 'write') return null;
  if (sparse === 'auto' && writes.length === 0) return null;
  const named = sparse === 'auto' ? [] : sparse;
  const places = placesOf([...writes, ...named, ...sparseAlso]);
  if (places === null) return null;
  const { commonDir } = context.repository;
  const found = await entriesOf(commonDir, commit, places.paths, signal);
  // A file is seen among those beside it; what is not there yet may become a folder.
  const isFile = (path: string): boolean => found.get(path)?.mode.startsWith('1') === true;
  const folders = places.paths.map((path) => (isFile(path) ? folderOf(path) : path));
  const args = ['ls-tree', '-z', '--full-tree', '-d', '--name-only', commit];
  const root = splitNul((await git(commonDir, args, signal)).stdout);
  const cone = outermost(
    [
      ...places.folders,
      ...folders,
      cwd ?? '',
      ...root.filter((name) => name.startsWith('.')),
    ].filter((folder) => folder !== '' && !folder.startsWith('..')),
  );
  const isAll = root.every((name) => cone.includes(name));
  return isAll || cone.some((folder) => /[\n\r]/.test(folder)) ? null : cone;
}

/** The folders that are checked out, and the variables that programs using git there need. */
export function checkedOutIn(
  dir: string,
  inherited: Readonly<Record<string, string | undefined>>,
): { readonly cone: Cone | null; readonly env: Readonly<Record<string, string>> } {
  return { cone: coneOf(dir), env: programEnvironment(dir, inherited) };
}

/** Lets a person, whose git knows no cones, see what was written outside of the cone. */
export async function showHiddenWrites(
  context: RunContext,
  task: TaskId,
  signal: AbortSignal,
): Promise<void> {
  const dir = workspaceDir(context, task);
  if (existsSync(dir)) await showWritten(dir, signal).catch(otherwise(undefined));
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}
