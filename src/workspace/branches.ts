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

/** A ref, and the commit at which it is. */
export interface Ref {
  readonly ref: string;
  readonly tip: Sha;
}

/** Deletes the branches of these tasks where that loses nothing, and with them another one. */
export async function removeBranches(
  ground: Ground,
  { tasks, also }: { readonly tasks: readonly TaskId[]; readonly also: Ref | null },
  signal: AbortSignal,
): Promise<void> {
  const { dir } = ground.repository;
  const wanted = tasks.map((task) => `refs/heads/${branchOf(ground, task)}`);
  const safe = wanted.length === 0 ? new Map() : await safeRefs(ground, wanted, signal);
  if (also !== null) safe.set(also.ref, also.tip);
  const lines = [...safe].map(([ref, tip]) => `delete ${ref} ${tip}\n`);
  if (lines.length === 0) return;
  await git(dir, ['update-ref', '--stdin'], signal, { stdin: lines.join('') });
}

/** Those that the run's branch holds; only where that is not all, those that a kept ref does. */
async function safeRefs(
  ground: Ground,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Sha>> {
  const all = await refsBelow(ground, [], signal);
  // Where it was cut short before, the run's branch may be gone with some of the others.
  const isOpen = all.has(runRef(ground)) && wanted.some((ref) => all.has(ref));
  const merged = isOpen ? await refsBelow(ground, ['--merged', runRef(ground)], signal) : [];
  const safe = new Map([...merged].filter(([ref]) => wanted.includes(ref)));
  const left = new Set(wanted.filter((ref) => !safe.has(ref) && all.has(ref)));
  const isKept = keptRef(ground.run, '');
  const keptTips = new Set(
    [...all].filter(([ref]) => ref.startsWith(isKept)).map(([, tip]) => tip),
  );
  for (const [ref, tip] of all) if (left.has(ref) && keptTips.has(tip)) safe.set(ref, tip);
  return safe;
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
