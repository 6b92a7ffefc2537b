/**
 * branches: the branches of a run's tasks go together when the run is tidied up, in two git
 * processes however many there are.
 *
 *   B1. A branch goes only when the run's branch or a kept ref holds all of it.
 */

import { git } from '../git/git.ts';
import { keptRef } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { branchOf, type Ground, runRef } from './ground.ts';

/** Deletes the branches of these tasks where that loses nothing. */
export async function removeBranches(
  ground: Ground,
  tasks: readonly TaskId[],
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = ground.repository;
  const wanted = new Set(tasks.map((task) => `refs/heads/${branchOf(ground, task)}`));
  const merged = await refsBelow(ground, ['--merged', runRef(ground)], signal);
  const kept = await refsBelow(ground, [], signal);
  const keptTips = new Set(
    [...kept].filter(([ref]) => ref.startsWith(keptRef(ground.run, ''))).map(([, tip]) => tip),
  );
  const lines = [...kept]
    .filter(([ref, tip]) => wanted.has(ref) && (merged.has(ref) || keptTips.has(tip)))
    .map(([ref, tip]) => `delete ${ref} ${tip}\n`);
  if (lines.length === 0) return;
  await git(commonDir, ['update-ref', '--stdin'], signal, { stdin: lines.join('') });
}

async function refsBelow(
  ground: Ground,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const format = '--format=%(refname) %(objectname)';
  const places = ['refs/heads', keptRef(ground.run, '').slice(0, -1)];
  const { stdout } = await git(
    ground.repository.commonDir,
    ['for-each-ref', format, ...args, ...places],
    signal,
  );
  const rows = stdout.split('\n').filter((line) => line !== '');
  return new Map(rows.map((line) => line.split(' ') as [string, Sha]));
}
