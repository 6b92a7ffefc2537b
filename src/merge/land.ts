/**
 * land: finished work reaches the run's branch, verified in exactly the combination that lands.
 *
 *   L1. The branch moves by compare-and-swap from the head the candidate was built and verified on.
 *   L2. A merge has the work as a parent, so landing it makes the work reachable; a squashed or
 *       rebased candidate has all of its changes. Before anything is published that is proved
 *       for all of it at once (proof.ts).
 *   L3. Idempotent: work that is on the branch already is reported as landed and not merged again.
 */

import { assert } from '../base/assert.ts';
import { OperationalError } from '../base/errors.ts';
import { readCommit } from '../git/commit.ts';
import { isAncestor, tipOf, updateRef } from '../git/refs.ts';
import type { MergeEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { commitMessage, mergeMessage } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { type Ground, runRef } from '../workspace/ground.ts';
import { buildCandidate, type Merge, workTrailer } from './candidate.ts';
import { isResult } from './proof.ts';
import { verify } from './verify.ts';

const MOVE_LIMIT_MS = 60_000;

/** Performs a merge effect: the last fact it reports is `merge.landed` or `merge.rejected`. */
export async function landWork(
  ground: Ground,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task, onto } = effect;
  const answer = await orFailure(signal, () => tryLanding(ground, effect, report, signal));
  if ('kind' in answer) return report({ type: 'merge.rejected', task, onto, failure: answer });
  report({ type: 'merge.landed', task, ...answer });
}

/** One piece of work that git cannot handle must not end the others. */
export async function orFailure<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return stoppedBy(signal);
    if (!(error instanceof OperationalError)) throw error;
    return { kind: 'commit-failed', message: `It could not be merged. ${error.message}` };
  }
}

interface Landed {
  readonly onto: Sha;
  readonly commit: Sha;
}

async function tryLanding(
  ground: Ground,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Landed | Failure> {
  const { commonDir } = ground.repository;
  const { task, commit: work, onto } = effect;
  const head = await tipOf(commonDir, runRef(ground), signal);
  assert(head !== null, `the run's branch ${runRef(ground)} is gone`);
  const { strategy } = ground.plan.landing;
  const merge = { work, onto, message: messageFor(ground, task), strategy };
  // It can be there already only if the branch is not where the engine left it: after a crash.
  if (head !== onto && (await holdsWork(commonDir, head, merge, signal))) {
    return { onto, commit: head };
  }
  if (head !== onto) {
    const message = `Somebody else moved ${runRef(ground)}: nothing lands on what was not verified.`;
    return { kind: 'commit-failed', message };
  }
  const candidate = await buildCandidate(commonDir, merge, signal);
  if (candidate.kind === 'conflict') return conflict(effect, candidate.files);
  if (candidate.kind === 'refused') {
    return { kind: 'commit-failed', message: `It could not be merged: ${candidate.why}` };
  }
  const verdict = await verify(ground, { task, ...candidate }, report, signal);
  if (verdict.kind === 'stopped' || signal.aborted) return stoppedBy(signal);
  if (verdict.kind === 'red') return redGate(effect, verdict);
  return moveBranch(ground, { onto: head, commit: candidate.commit });
}

/** From here on nothing stops it: a branch that has moved must be told of. */
async function moveBranch(ground: Ground, { onto, commit }: Landed): Promise<Landed | Failure> {
  const signal = AbortSignal.timeout(MOVE_LIMIT_MS);
  const { commonDir } = ground.repository;
  const swap = await updateRef(commonDir, runRef(ground), { to: commit, from: onto }, signal);
  if (swap.kind === 'lost' && swap.actual !== commit) {
    const message = `Somebody else moved ${runRef(ground)} to ${swap.actual ?? 'nothing'}.`;
    return { kind: 'interrupted', message };
  }
  return { onto, commit };
}

/** Rebased commits are nobody's merge: the one that lands them is called like their own. */
function messageFor({ plan, run }: Ground, task: TaskId): string {
  const spec = plan.tasks.find(({ id }) => id === task);
  assert(spec !== undefined, `no task ${task} in the plan`);
  const name = plan.landing.strategy === 'rebase' ? commitMessage : mergeMessage;
  return name(plan.conventions, run, spec);
}

async function holdsWork(
  dir: string,
  head: Sha,
  merge: Merge,
  signal: AbortSignal,
): Promise<boolean> {
  const { work, onto, strategy } = merge;
  if (await isAncestor(dir, work, head, signal)) return true;
  if (strategy === 'squash') {
    return (await readCommit(dir, head, signal)).message.includes(workTrailer(work));
  }
  if (strategy !== 'rebase' || !(await isAncestor(dir, onto, head, signal))) return false;
  return isResult(dir, { ...merge, commit: head }, signal);
}

function conflict(effect: MergeEffect, files: readonly string[]): Failure {
  const { landedSince } = effect;
  const against =
    landedSince.length > 0 ? `what landed meanwhile (${landedSince.join(', ')})` : 'the head';
  const message = `Conflicts with ${against} in ${files.join(', ')}.`;
  return { kind: 'conflict', message, files, landedSince };
}

/** The failure of work on which a gate is red. */
export function redGate(
  { landedSince }: MergeEffect,
  { gate, output }: { readonly gate: string; readonly output: string },
): Failure {
  const message =
    landedSince.length > 0
      ? `Gate ${gate} is red on this work combined with what landed meanwhile (${landedSince.join(', ')}).`
      : `Gate ${gate} is red on this work.`;
  return { kind: 'gate-failed', message, gate, output, landedSince };
}

/** The failure of a landing that was asked to stop. */
export function stoppedBy(signal: AbortSignal): Failure {
  const kind = signal.reason === 'cancelled' ? 'cancelled' : 'interrupted';
  return { kind, message: 'Stopped while it was being verified; the work is committed.' };
}
