/**
 * Sparse workspaces: only some folders of the commit, the cone, are checked out. The shared
 * configuration is not touched: a worktree's cone is a note (worktree-notes.ts), and git commands
 * get the settings on the command line or by a variable. A git without them takes what is not
 * checked out for unchanged, and sees files written there once status.ts has updated the index. A
 * sparse checkout of the user's is left alone.
 */

import { existsSync } from 'node:fs';
import { parseJson } from '../base/parse-json.ts';
import { DURABLE, SPARSE_PARAMETERS, SPARSE_SETTINGS } from './environment.ts';
import { git, LONG_LIMIT_MS } from './git.ts';
import { gitDirOf } from './git-dir.ts';
import { readNote, writeNote } from './worktree-notes.ts';

/** The folders that are checked out, besides the files in the root. */
export type Cone = readonly string[];

const CONE_NOTE = 'cone';

/** The cone of a worktree; null where all of its commit is checked out, or the user decides. */
export function coneOf(dir: string): Cone | null {
  const note = readNote(dir, CONE_NOTE);
  const cone = note === null ? null : parseJson<unknown>(note);
  return Array.isArray(cone) ? cone.map(String) : null;
}

/** Changes which folders are checked out in a worktree. */
export async function setCone(dir: string, cone: Cone, signal: AbortSignal): Promise<void> {
  writeNote(dir, CONE_NOTE, JSON.stringify(cone));
  // Git changes the cone of an index that leaves out whole folders only with `index.sparse` off.
  const options = {
    stdin: cone.map((folder) => `${quotedLine(folder)}\n`).join(''),
    config: { 'index.sparse': 'false' },
    limitMs: LONG_LIMIT_MS,
  };
  await git(dir, ['sparse-checkout', 'set', '--stdin'], signal, options);
}

/** Git parses a line that begins with a quote as a C string. */
function quotedLine(folder: string): string {
  return folder.startsWith('"') ? JSON.stringify(folder) : folder;
}

/** Whether git may leave files out of this worktree, by Landfast's or the user's settings. */
export function mayBeSparse(dir: string): boolean {
  return existsSync(`${gitDirOf(dir)}/info/sparse-checkout`);
}

export function sparseSettings(dir: string): readonly string[] {
  if (coneOf(dir) === null) return [];
  return SPARSE_SETTINGS.flatMap((name) => ['-c', `${name}=true`]);
}

/**
 * The environment of a program that may use git in a worktree: durable commits, and the cone. It is
 * the variable in which `git -c` passes settings on: one name, without `KEY`, which agents take for
 * a secret.
 */
export function programEnvironment(
  dir: string,
  inherited: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const before = inherited.GIT_CONFIG_PARAMETERS ?? '';
  const cone = coneOf(dir) === null ? '' : SPARSE_PARAMETERS;
  return { GIT_CONFIG_PARAMETERS: `${before} '${DURABLE}' ${cone}`.trim() };
}
