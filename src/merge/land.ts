/**
 * Brings finished work to the run's branch, verified in exactly the combination that lands.
 *
 * The branch moves by compare-and-swap from the head that the candidate was built and verified on.
 * An engine that has lost its run moves nothing: it checks its lease right before. Work that is on
 * the branch already is reported as landed and not merged again. Work that adds nothing to the
 * candidates ahead waits until they have landed, and is found there.
 */

import { assert } from '../base/assert.ts';
import { OperationalError, rethrowBug } from '../base/errors.ts';
import { timed } from '../base/timing.ts';
import { readCommit } from '../git/commit.ts';
import { objectProblem } from '../git/object-check.ts';
import { isAncestor, readRef, setRef, updateRef } from '../git/refs.ts';
import { conflictText } from '../model/conflict.ts';
import type { LandEffect, MergeEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { candidateRef, commitMessage, mergeMessage } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { type Clash, clashSentences } from '../model/radar.ts';
import { landingTrailers } from '../model/trailers.ts';
import { clashesWithLanded } from '../workspace/radar/clashing-names.ts';
import { type RunContext, runRef, specOf } from '../workspace/run-context.ts';
import { autoResolver, learnFrom } from './auto-resolve.ts';
import { buildCandidate, type Candidate, type Merge, workTrailer } from './candidate.ts';
import { isSpared } from './gates.ts';
import { generatedScope, isResult } from './proof.ts';

const MOVE_LIMIT_MS = 60_000;

/**
 * Performs a merge effect: the last fact it reports is `candidate.built`, `merge.landed`,
 * `merge.withdrawn` or `merge.rejected`.
 */
export async function mergeWork(
  context: RunContext,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task, onto } = effect;
  const merging = () => tryMerge(context, effect, report, signal);
  const answer = await orFailure('merged', merging, signal);
  report('type' in answer ? answer : { type: 'merge.rejected', task, onto, failure: answer });
  if (effect.teaches && 'type' in answer && answer.type === 'merge.landed') {
    // Not aborted by the effect's signal: this landing may end the run.
    const limit = AbortSignal.timeout(MOVE_LIMIT_MS);
    await learnFrom(context, { onto, works: [effect.commit] }, limit);
  }
}

/** Work that git cannot handle must not stop other work. */
export async function orFailure<T>(
  what: 'merged' | 'delivered',
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    rethrowBug(error);
    if (signal.aborted) return stoppedBy(signal);
    if (!(error instanceof OperationalError)) throw error;
    return { kind: 'commit-failed', message: `It could not be ${what}. ${error.message}` };
  }
}

interface Landed {
  readonly onto: Sha;
  readonly commit: Sha;
}

type Merged = Event & { type: 'candidate.built' | 'merge.landed' | 'merge.withdrawn' };

async function tryMerge(
  context: RunContext,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Merged | Failure> {
  const { commonDir } = context.repository;
  const { task, commit: work, onto, ahead } = effect;
  const { strategy } = context.plan.landing;
  const autoResolve = autoResolver(context);
  const message = messageFor(context, effect);
  const isTold = context.plan.landing.trailers === true;
  const said = isTold ? { trailers: landingTrailers(context.run, task, effect.credit) } : {};
  const merge = { work, onto, message, ...said, strategy, autoResolve };
  const there = ahead === null ? await ifBranchMoved(context, task, merge, signal) : null;
  if (there !== null) return there;
  if (specOf(context, task).work !== undefined) {
    // Work from before the run: it may have landed already, and git has not checked its objects.
    if (await isAncestor(commonDir, work, onto, signal)) return nothingNew(effect);
    const problem = await objectProblem(commonDir, { from: onto, to: work }, signal);
    const message = `Git's own checks refuse it: ${problem}`;
    if (problem !== null) return { kind: 'commit-failed', message };
  }
  const clash = await clashWithLanded(context, effect, report, signal);
  if (clash !== null) return clash;
  const candidate = await buildCandidate(commonDir, merge, signal);
  if (candidate.kind === 'conflict') {
    if (ahead === null) return conflict(effect, candidate);
    const why = `Conflicts with the work of ${ahead}: ${conflictText(candidate)}.`;
    return { type: 'merge.withdrawn', task, ahead, why };
  }
  if (candidate.kind === 'refused') {
    return { kind: 'commit-failed', message: `It could not be merged: ${candidate.why}` };
  }
  const { commit, tree, settled } = candidate;
  if (commit === onto) return nothingNew(effect);
  if (settled.length > 0) report({ type: 'merge.settled', task, files: settled });
  if (!effect.lands) {
    await setRef(commonDir, candidateRef(context.run, task), commit, signal);
    const toVerify = { task, commit, tree, since: onto };
    const spared = effect.beside === true && (await isSpared(context, toVerify, report, signal));
    return { type: 'candidate.built', task, commit, tree, ...(spared ? { spared } : {}) };
  }
  if (signal.aborted) return stoppedBy(signal);
  const span = { kind: 'land', of: task, name: 'land' };
  const landed = await timed(span, () => moveBranch(context, { onto, commit }));
  return 'kind' in landed ? landed : { type: 'merge.landed', task, ...landed };
}

/** Names of the work that clash with landed work. Clashes that are resolved are reported as such. */
async function clashWithLanded(
  context: RunContext,
  { task, base, commit: work, suspects = [] }: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Failure | null> {
  if (base === null || suspects.length === 0) return null;
  const clashes: Clash[] = [];
  for (const landing of suspects) {
    const found = await clashesWithLanded(context, { task, base, work }, landing, signal);
    clashes.push(...found);
    if (found.length > 0) continue;
    report({ type: 'radar.semantic', a: task, b: landing.task, names: [] });
    report({ type: 'radar.semantic', a: landing.task, b: task, names: [] });
  }
  if (clashes.length === 0) return null;
  const [first = '', ...more] = clashes.flatMap(clashSentences);
  const message = more.length === 0 ? first : `${first} And ${more.length} more.`;
  return { kind: 'semantic', message, clashes, landedSince: suspects.map((each) => each.task) };
}

function nothingNew({ task, onto, ahead }: MergeEffect): Merged {
  if (ahead === null) return { type: 'merge.landed', task, onto, commit: onto };
  return { type: 'merge.withdrawn', task, ahead, why: `${ahead} holds all of it already.` };
}

/** Handles a branch that moved or was deleted; null where it is (again) where the engine left it. */
async function ifBranchMoved(
  context: RunContext,
  task: TaskId,
  merge: Merge,
  signal: AbortSignal,
): Promise<Merged | Failure | null> {
  const { commonDir } = context.repository;
  const head = await readRef(commonDir, runRef(context), signal);
  const { onto } = merge;
  if (head === onto) return null;
  if (head === null) {
    const change = { to: onto, from: null, assertHeld: context.assertHeld };
    const made = await updateRef(commonDir, runRef(context), change, signal);
    if (made.kind === 'moved') return null;
    return { kind: 'interrupted', message: `Another process moved ${runRef(context)}.` };
  }
  // This happens only after a crash.
  if (await holdsWork(context, head, merge, signal)) {
    return { type: 'merge.landed', task, onto, commit: head };
  }
  const message = `Another process moved ${runRef(context)}: nothing lands on what was not verified.`;
  return { kind: 'commit-failed', message };
}

/** Performs a land effect: the head moves to the last candidate, and all of them have landed. */
export async function landCandidates(
  context: RunContext,
  { onto, candidates, teachers }: LandEffect,
  report: (fact: Event) => void,
): Promise<void> {
  const [first, ...others] = candidates;
  const last = candidates.at(-1);
  assert(first !== undefined && last !== undefined, 'nothing lands without a candidate');
  const landed = await moveBranch(context, { onto, commit: last.commit });
  if ('kind' in landed) {
    report({ type: 'merge.rejected', task: first.task, onto, failure: landed });
    for (const { task } of others) {
      report({ type: 'merge.withdrawn', task, ahead: null, why: landed.message });
    }
    return;
  }
  let below = onto;
  for (const { task, commit } of candidates) {
    report({ type: 'merge.landed', task, onto: below, commit });
    below = commit;
  }
  await learnFrom(context, { onto, works: teachers }, AbortSignal.timeout(MOVE_LIMIT_MS));
}

/** Not interruptible: a branch that has moved must be reported. */
async function moveBranch(
  context: RunContext,
  { onto, commit }: Landed,
): Promise<Landed | Failure> {
  const signal = AbortSignal.timeout(MOVE_LIMIT_MS);
  const { commonDir } = context.repository;
  context.assertHeld();
  const ref = runRef(context);
  let swap = await updateRef(commonDir, ref, { to: commit, from: onto }, signal);
  if (swap.kind === 'lost' && swap.actual === null) {
    swap = await updateRef(commonDir, ref, { to: commit, from: null }, signal); // It was deleted.
  }
  if (swap.kind === 'lost' && swap.actual !== commit) {
    const message = `Another process moved ${runRef(context)} to ${swap.actual ?? 'nothing'}.`;
    return { kind: 'interrupted', message };
  }
  return { onto, commit };
}

/** A flattened rebase gets the message of a task commit: it is no merge. */
function messageFor({ plan, run }: RunContext, { task, credit }: MergeEffect): string {
  const spec = specOf({ plan }, task);
  const { conventions, landing } = plan;
  if (landing.strategy === 'rebase') return commitMessage(conventions, run, spec, credit.by);
  return mergeMessage(conventions, run, spec, credit);
}

async function holdsWork(
  context: RunContext,
  head: Sha,
  merge: Merge,
  signal: AbortSignal,
): Promise<boolean> {
  const { work, onto, strategy } = merge;
  const dir = context.repository.commonDir;
  if (await isAncestor(dir, work, head, signal)) return true;
  if (strategy === 'squash') {
    return (await readCommit(dir, head, signal)).message.includes(workTrailer(work));
  }
  if (strategy !== 'rebase' || !(await isAncestor(dir, onto, head, signal))) return false;
  const generated = generatedScope(context.plan);
  return isResult(dir, { ...merge, commit: head, generated }, signal);
}

function conflict(
  { landedSince }: MergeEffect,
  { files, conflicts, output }: Candidate & { kind: 'conflict' },
): Failure {
  const against =
    landedSince.length > 0 ? `what landed meanwhile (${landedSince.join(', ')})` : 'the head';
  const message = `Conflicts with ${against}: ${conflictText({ files, conflicts })}.`;
  const said = output === undefined ? {} : { output };
  return { kind: 'conflict', message, files, conflicts, ...said, landedSince };
}

export function stoppedBy(signal: AbortSignal): Failure {
  const kind = signal.reason === 'cancelled' ? 'cancelled' : 'interrupted';
  return { kind, message: 'Stopped while it was being landed; the work is committed.' };
}
