/**
 * witness: whether anybody has touched a workspace since a moment, told without a git process.
 *
 *   W1. Whoever writes, renames or chmods something changes a ctime, which no program can set. So
 *       a workspace in which nothing is younger than the staging of its work holds just that
 *       work, and perhaps what git ignores.
 *   W2. Whoever sets a flag in the index, switches branches or stages something replaces the file
 *       in which git keeps it. When that was is looked at, never what is in these files.
 *   W3. Yes is said only for sure: where a moment is too near to tell, or the clock was set back,
 *       it is no, and git is asked.
 */

import { existsSync, statSync } from 'node:fs';
import { isSetBack, type Moment } from '../base/moment.ts';
import { commonDirOf, gitDirOf } from '../git/git-dir.ts';
import type { Sha } from '../model/plan.ts';
import type { Found } from './touched.ts';

/** Which index and which HEAD a worktree has. */
export type GitState = string;

/** A commit that held all of a workspace, as it was when git began to stage it. */
export interface Committed {
  readonly commit: Sha;
  readonly at: Moment;
}

/** What git keeps about a worktree; null where that cannot be told by files. */
export function gitStateOf(dir: string): GitState | null {
  if (existsSync(`${commonDirOf(dir)}/reftable`)) return null;
  const prints = ['index', 'HEAD'].map((name) => printOf(`${gitDirOf(dir)}/${name}`));
  return prints.includes('') ? null : prints.join(' ');
}

/** Whether a workspace is untouched since it was committed. */
export function isAsCommitted({ at }: Committed, { youngestMs }: Found): boolean {
  return !isSetBack(at) && youngestMs < at.at - TICK_MS;
}

/** What the clock of a file system may be behind ours. */
const TICK_MS = 10;

function printOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino}.${stat.ctimeNs}`;
}
