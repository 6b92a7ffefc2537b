/**
 * rewritten: a target whose history the user has replaced during the run (an amended commit, a
 * reset, a new root), so that it no longer holds the commit that the run started from.
 *
 *   W1. Nothing moves it: a merge would bring back what the user took out, and without a common
 *       commit git refuses one. A person picks the landings instead, each as one commit.
 *   W2. What was picked is known by the note of `git cherry-pick -x`: what is picked needs no second
 *       pick, and a head that is picked is published.
 */

import { git } from '../git/git.ts';
import { areRelated } from '../git/history.ts';
import { isAncestor } from '../git/refs.ts';
import type { PublishEffect } from '../model/effect.ts';
import type { Sha } from '../model/plan.ts';
import type { Ground } from '../workspace/ground.ts';

/** Whether the target at `tip` has another history than the one that the run began on. */
export async function isRewritten(
  { repository: { commonDir }, plan }: Ground,
  { base, head }: Pick<PublishEffect, 'base' | 'head'>,
  tip: Sha,
  signal: AbortSignal,
): Promise<boolean> {
  if (await isAncestor(commonDir, base, tip, signal)) return false;
  // A run that began on a remote's branch may publish to one that has never held its base.
  return plan.base === undefined || !(await areRelated(commonDir, head, tip, signal));
}

/** The newest commit of the run's line that was picked onto the target; without one, the base. */
export async function lastPicked(
  { repository: { commonDir } }: Ground,
  { base, head }: Pick<PublishEffect, 'base' | 'head'>,
  tip: Sha,
  signal: AbortSignal,
): Promise<Sha> {
  const line = ['rev-list', '--first-parent', `^${base}`, head];
  const notes = ['log', '--format=%B', '--fixed-strings', `--grep=${NOTE}`, `^${base}`, tip, '--'];
  const [commits, picked] = await Promise.all([
    git(commonDir, line, signal),
    git(commonDir, notes, signal),
  ]);
  return commits.stdout.split('\n').find((id) => isNoted(id, picked.stdout)) ?? base;
}

const NOTE = '(cherry picked from commit ';

function isNoted(commit: Sha, messages: string): boolean {
  return commit !== '' && messages.includes(`${NOTE}${commit})`);
}
