/**
 * branches: the branches of a run's tasks go together when the run is tidied up, in two git
 * processes however many there are.
 *
 *   B1. A branch goes only when the run's branch or a kept ref holds all of it.
 */

import { git } from '../git/git.ts';
import { readRef } from '../git/refs.ts';
import { keptRef } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { branchOf, type RunContext, runRef } from './run-context.ts';

export interface Ref {
  readonly ref: string;
  readonly tip: Sha;
}

/** The tip of a task's branch, if it exists. */
export function branchTip(
  context: RunContext,
  task: TaskId,
  signal: AbortSignal,
): Promise<Sha | null> {
  return readRef(context.repository.commonDir, `refs/heads/${branchOf(context, task)}`, signal);
}

/** Deletes the branches of these tasks where that loses nothing, and with them another one. */
export async function removeBranches(
  context: RunContext,
  { tasks, also }: { readonly tasks: readonly TaskId[]; readonly also: Ref | null },
  signal: AbortSignal,
): Promise<void> {
  const { dir } = context.repository;
  const wanted = tasks.map((task) => `refs/heads/${branchOf(context, task)}`);
  const safe = wanted.length === 0 ? new Map() : await safeRefs(context, wanted, signal);
  if (also !== null) safe.set(also.ref, also.tip);
  const lines = [...safe].map(([ref, tip]) => `delete ${ref} ${tip}\n`);
  if (lines.length === 0) return;
  await git(dir, ['update-ref', '--stdin'], signal, { stdin: lines.join('') });
}

/** Branches whose work the run's branch holds, or a kept ref where that does not. */
async function safeRefs(
  context: RunContext,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Sha>> {
  const all = await refsBelow(context, [], signal);
  // After an interrupted clean-up the run's branch may be gone already.
  const isOpen = all.has(runRef(context)) && wanted.some((ref) => all.has(ref));
  const merged = isOpen ? await refsBelow(context, ['--merged', runRef(context)], signal) : [];
  const safe = new Map([...merged].filter(([ref]) => wanted.includes(ref)));
  const left = new Set(wanted.filter((ref) => !safe.has(ref) && all.has(ref)));
  const isKept = keptRef(context.run, '');
  const keptTips = new Set(
    [...all].filter(([ref]) => ref.startsWith(isKept)).map(([, tip]) => tip),
  );
  for (const [ref, tip] of all) if (left.has(ref) && keptTips.has(tip)) safe.set(ref, tip);
  return safe;
}

async function refsBelow(
  context: RunContext,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const format = '--format=%(refname) %(objectname)';
  const places = ['refs/heads', keptRef(context.run, '').slice(0, -1)];
  const { stdout } = await git(
    context.repository.commonDir,
    ['for-each-ref', format, ...args, ...places],
    signal,
  );
  const rows = stdout.split('\n').filter((line) => line !== '');
  return new Map(rows.map((line) => line.split(' ') as [string, Sha]));
}
