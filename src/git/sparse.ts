/**
 * Sparse worktrees of ours: only some folders of the commit, its cone, are among the files.
 *
 *   A1. The shared configuration is not touched, not even `extensions.worktreeConfig`. A worktree's
 *       cone is noted in its own git folder (`landfast-sparse`); every git command there gets the
 *       settings from us: ours on the command line, those of other programs by a variable.
 *   A2. A git that does not get them works all the same: it takes what is not checked out for
 *       unchanged. What was written there all the same it sees once hidden.ts has told the index.
 *   A3. Only what is noted by us counts: a sparse checkout of the user's is the user's business.
 */

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitFolderOf, ownText } from './git-dir.ts';

/** The folders that are checked out, besides what lies directly in the root. */
export type Cone = readonly string[];

/** In a worktree's own git folder: its cone. */
const CONE_NOTE = 'landfast-sparse';

const SETTINGS = ['core.sparseCheckout', 'core.sparseCheckoutCone', 'index.sparse'];

/** The same for `GIT_CONFIG_PARAMETERS`, as `git -c` writes it. */
export const SPARSE_PARAMETERS = SETTINGS.map((name) => `'${name}=true'`).join(' ');

/** The cone of a worktree; null where all of its commit is checked out, or the user decides. */
export function coneOf(dir: string): Cone | null {
  const note = ownText(dir, CONE_NOTE);
  if (note === null) return null;
  try {
    const cone: unknown = JSON.parse(note);
    return Array.isArray(cone) ? cone.map(String) : null;
  } catch {
    return null;
  }
}

/**
 * Says what is to be checked out in a worktree, null for all of it. Its files follow with the next
 * checkout, which needs `ANY_CONE` if another cone was there, and `dropCone` afterwards.
 */
export async function setCone(dir: string, cone: Cone | null): Promise<void> {
  const gitDir = gitFolderOf(dir);
  if (cone === null && coneOf(dir) === null) return;
  if (cone !== null) await writeFile(join(gitDir, CONE_NOTE), JSON.stringify(cone));
  await mkdir(join(gitDir, 'info'), { recursive: true });
  await writeFile(patternsFile(gitDir), patternsOf(cone));
}

/**
 * A setting with which git reads the index of whatever cone: one that holds whole folders as one
 * entry makes no sense by the patterns of another.
 */
export const ANY_CONE = { 'index.sparse': 'false' };

/** Forgets a cone, once all is checked out. */
export async function dropCone(dir: string): Promise<void> {
  const gitDir = gitFolderOf(dir);
  if (coneOf(dir) === null || patternsIn(gitDir) !== patternsOf(null)) return;
  await rm(join(gitDir, CONE_NOTE), { force: true });
  await rm(join(gitDir, 'info'), { recursive: true, force: true });
}

/** Whether somebody has said since that more, or less, is to be checked out. */
export function isConeChanged(dir: string): boolean {
  const cone = coneOf(dir);
  return cone !== null && patternsIn(gitFolderOf(dir)) !== patternsOf(cone);
}

/** Whether git may leave files out of this worktree, whoever said so. */
export function mayBeSparse(dir: string): boolean {
  return existsSync(patternsFile(gitFolderOf(dir)));
}

/** What a git command in a folder needs on its command line. */
export function sparseSettings(dir: string): readonly string[] {
  if (coneOf(dir) === null) return [];
  return SETTINGS.flatMap((name) => ['-c', `${name}=true`]);
}

/**
 * What a program that may use git in a worktree needs in its environment. It is the variable in
 * which `git -c` hands settings down: one name, without `KEY`, which agents take for a secret.
 */
export function sparseEnvironment(
  dir: string,
  inherited: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  if (coneOf(dir) === null) return {};
  const before = inherited.GIT_CONFIG_PARAMETERS ?? '';
  return { GIT_CONFIG_PARAMETERS: `${before} ${SPARSE_PARAMETERS}`.trim() };
}

/**
 * The patterns of a cone, as `git sparse-checkout set --cone` writes them: the files of the root;
 * of every folder on the way to a checked out one its files; of that one everything.
 */
export function patternsOf(cone: Cone | null): string {
  if (cone === null) return '/*\n';
  const parents = new Set(cone.flatMap(foldersAbove));
  const lines = ['/*', '!/*/'];
  for (const folder of [...parents].sort())
    lines.push(`/${literal(folder)}/`, `!/${literal(folder)}/*/`);
  for (const folder of [...cone].sort()) lines.push(`/${literal(folder)}/`);
  return `${lines.join('\n')}\n`;
}

function foldersAbove(folder: string): readonly string[] {
  const parts = folder.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function literal(folder: string): string {
  return folder.replace(/[\\*?[]/g, '\\$&');
}

function patternsIn(gitDir: string): string {
  try {
    return readFileSync(patternsFile(gitDir), 'utf8');
  } catch {
    return '';
  }
}

function patternsFile(gitDir: string): string {
  return join(gitDir, 'info', 'sparse-checkout');
}
