/**
 * Sparse worktrees of ours: only some folders of the commit, its cone, are among the files.
 *
 *   A1. The shared configuration is not touched, not even `extensions.worktreeConfig`. A worktree's
 *       cone is noted (worktree-notes.ts); every git command there gets the settings from us: ours
 *       on the command line, those of other programs by a variable.
 *   A2. A git that does not get them works all the same: it takes what is not checked out for
 *       unchanged. What was written there all the same it sees once hidden.ts has told the index.
 *   A3. Only what is noted by us counts: a sparse checkout of the user's is the user's business.
 */

import { existsSync } from 'node:fs';
import { DURABLE, SPARSE_PARAMETERS, SPARSE_SETTINGS } from './environment.ts';
import { git, LONG_LIMIT_MS } from './git.ts';
import { gitDirOf } from './git-dir.ts';
import { readNote, writeNote } from './worktree-notes.ts';

/** The folders that are checked out, besides what lies directly in the root. */
export type Cone = readonly string[];

const CONE_NOTE = 'cone';

/** The cone of a worktree; null where all of its commit is checked out, or the user decides. */
export function coneOf(dir: string): Cone | null {
  const note = readNote(dir, CONE_NOTE);
  if (note === null) return null;
  try {
    const cone: unknown = JSON.parse(note);
    return Array.isArray(cone) ? cone.map(String) : null;
  } catch {
    return null;
  }
}

/** Says which folders are to be checked out in a worktree; its files follow at once. */
export async function setCone(dir: string, cone: Cone, signal: AbortSignal): Promise<void> {
  writeNote(dir, CONE_NOTE, JSON.stringify(cone));
  // Only with `index.sparse` off git brings an index that leaves out whole folders to another cone.
  const options = {
    stdin: cone.map((folder) => `${quotedLine(folder)}\n`).join(''),
    config: { 'index.sparse': 'false' },
    limitMs: LONG_LIMIT_MS,
  };
  await git(dir, ['sparse-checkout', 'set', '--stdin'], signal, options);
}

/** Git reads a line that begins with a quote as one in the manner of C. */
function quotedLine(folder: string): string {
  return folder.startsWith('"') ? JSON.stringify(folder) : folder;
}

/** Whether git may leave files out of this worktree, whoever said so. */
export function mayBeSparse(dir: string): boolean {
  return existsSync(`${gitDirOf(dir)}/info/sparse-checkout`);
}

/** What a git command in a folder needs on its command line. */
export function sparseSettings(dir: string): readonly string[] {
  if (coneOf(dir) === null) return [];
  return SPARSE_SETTINGS.flatMap((name) => ['-c', `${name}=true`]);
}

/**
 * What a program that may use git in a worktree needs in its environment: its commits are as
 * durable as ours, and it knows of the cone. It is the variable in which `git -c` hands settings
 * down: one name, without `KEY`, which agents take for a secret.
 */
export function programEnvironment(
  dir: string,
  inherited: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const before = inherited.GIT_CONFIG_PARAMETERS ?? '';
  const cone = coneOf(dir) === null ? '' : SPARSE_PARAMETERS;
  return { GIT_CONFIG_PARAMETERS: `${before} '${DURABLE}' ${cone}`.trim() };
}
