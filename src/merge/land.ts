/**
 * land: finished work reaches the run's branch, verified in exactly the combination that lands.
 *
 *   L1. The branch moves by compare-and-swap from the head the candidate was built and verified on.
 *   L2. A merge has the work as a parent, so landing it makes the work reachable; a squashed or
 *       rebased candidate has all of its changes. Before anything is published that is proved
 *       for all of it at once (proof.ts).
 *   L3. Idempotent: work that is on the branch already is reported as landed and not merged again.
 *   L4. An engine that has lost its run moves nothing: however long it slept, it looks first.
 *   L5. Work that adds nothing to what is ahead of it makes no candidate: it waits until that has
 *       landed, and is then found there.
 */

import { assert } from '../base/assert.ts';
import { OperationalError } from '../base/errors.ts';
import { timed } from '../base/timing.ts';
import { readCommit } from '../git/commit.ts';
import { objectProblem } from '../git/object-check.ts';
import { isAncestor, readRef, setRef, updateRef } from '../git/refs.ts';
import { conflictText } from '../model/conflict.ts';
import type { LandEffect, MergeEffect, VerifyEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { candidateRef, commitMessage, mergeMessage } from '../model/names.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { landingTrailers } from '../model/trailers.ts';
import { type Ground, runRef } from '../workspace/ground.ts';
import { buildCandidate, type Candidate, type Merge, workTrailer } from './candidate.ts';
import { generatedScope, isResult } from './proof.ts';
import { learnFrom } from './resolutions.ts';
import { settlerFor } from './settle.ts';
import { isSpared, type Verdict, verify } from './verify.ts';

const MOVE_LIMIT_MS = 60_000;

/**
 * Performs a merge effect: the last fact it reports is `candidate.built`, `merge.landed`,
 * `merge.withdrawn` or `merge.rejected`.
 */
export async function mergeWork(
  ground: Ground,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task, onto } = effect;
  const merging = () => tryMerge(ground, effect, report, signal);
  const answer = await orFailure('merged', merging, signal);
  report('type' in answer ? answer : { type: 'merge.rejected', task, onto, failure: answer });
  if (effect.teaches && 'type' in answer && answer.type === 'merge.landed') {
    // Not by the effect's own signal: the run may be over with this landing.
    const limit = AbortSignal.timeout(MOVE_LIMIT_MS);
    await learnFrom(ground, { onto, works: [effect.commit] }, limit);
  }
}

/** One piece of work that git cannot handle must not end the others. */
export async function orFailure<T>(
  what: 'merged' | 'delivered',
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
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
  ground: Ground,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Merged | Failure> {
  const { commonDir } = ground.repository;
  const { task, commit: work, onto, ahead } = effect;
  const { strategy } = ground.plan.landing;
  const from = effect.base === null ? {} : { base: effect.base };
  const settle = settlerFor(ground);
  const message = messageFor(ground, effect);
  const { credit } = effect;
  const isTold = ground.plan.landing.trailers === true;
  const said = isTold ? { trailers: landingTrailers(ground.run, task, credit) } : {};
  const merge = { work, onto, ...from, message, ...said, strategy, settle };
  const there = ahead === null ? await foundOn(ground, task, merge, signal) : null;
  if (there !== null) return there;
  if (await isContained(ground, task, merge, signal)) return nothingNew(effect);
  const problem = await adoptedProblem(ground, task, merge, signal);
  if (problem !== null) return problem;
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
    await setRef(commonDir, candidateRef(ground.run, task), commit, signal);
    const toVerify = { task, commit, tree, since: onto };
    const spared = effect.beside === true && (await isSpared(ground, toVerify, report, signal));
    return { type: 'candidate.built', task, commit, tree, ...(spared ? { spared } : {}) };
  }
  if (signal.aborted) return stoppedBy(signal);
  const span = { kind: 'land', of: task, name: 'land' };
  const landed = await timed(span, () => moveBranch(ground, { onto, commit }));
  return 'kind' in landed ? landed : { type: 'merge.landed', task, ...landed };
}

/** What git's own checks have against work that was there before the run; null for nothing. */
async function adoptedProblem(
  { plan, repository }: Ground,
  task: TaskId,
  { work, onto }: Merge,
  signal: AbortSignal,
): Promise<Failure | null> {
  const isAdopted = plan.tasks.some((spec) => spec.id === task && spec.work !== undefined);
  if (!isAdopted) return null;
  const problem = await objectProblem(repository.commonDir, { from: onto, to: work }, signal);
  if (problem === null) return null;
  return { kind: 'commit-failed', message: `Git's own checks refuse it: ${problem}` };
}

/** Whether work that an agent did not make on top of the head is part of it already. */
async function isContained(
  { plan, repository }: Ground,
  task: TaskId,
  { work, onto }: Merge,
  signal: AbortSignal,
): Promise<boolean> {
  const isAdopted = plan.tasks.some((spec) => spec.id === task && spec.work !== undefined);
  return isAdopted && isAncestor(repository.commonDir, work, onto, signal);
}

function nothingNew({ task, onto, ahead }: MergeEffect): Merged {
  if (ahead === null) return { type: 'merge.landed', task, onto, commit: onto };
  return { type: 'merge.withdrawn', task, ahead, why: `${ahead} holds all of it already.` };
}

/** The work as it was found on the branch; null where that is where the engine left it. */
async function foundOn(
  ground: Ground,
  task: TaskId,
  merge: Merge,
  signal: AbortSignal,
): Promise<Merged | Failure | null> {
  const { commonDir } = ground.repository;
  const head = await readRef(commonDir, runRef(ground), signal);
  const { onto } = merge;
  if (head === onto) return null;
  if (head === null) return remake(ground, onto, signal);
  // It can be there already only after a crash.
  if (await holdsWork(ground, head, merge, signal)) {
    return { type: 'merge.landed', task, onto, commit: head };
  }
  const message = `Somebody else moved ${runRef(ground)}: nothing lands on what was not verified.`;
  return { kind: 'commit-failed', message };
}

/** Somebody has deleted the run's branch: it is made again where the engine left it. */
async function remake(ground: Ground, onto: Sha, signal: AbortSignal): Promise<Failure | null> {
  const { commonDir } = ground.repository;
  const { assertHeld } = ground;
  const change = { to: onto, from: null, assertHeld };
  const made = await updateRef(commonDir, runRef(ground), change, signal);
  if (made.kind === 'moved') return null;
  return { kind: 'interrupted', message: `Somebody else moved ${runRef(ground)}.` };
}

/** Performs a verify effect: says whether the candidate is green, unless it was stopped. */
export async function verifyWork(
  ground: Ground,
  effect: VerifyEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task, commit } = effect;
  const verdict = await verify(ground, effect, report, signal).catch((error: unknown) => {
    if (signal.aborted) return { kind: 'stopped' } as const;
    if (!(error instanceof OperationalError)) throw error;
    return { kind: 'broken', message: `It could not be verified. ${error.message}` } as const;
  });
  if (verdict.kind === 'stopped') return;
  const failure = verdict.kind === 'green' ? null : failureOf(effect, verdict);
  report({ type: 'candidate.verified', task, commit, failure });
}

function failureOf(
  effect: VerifyEffect,
  verdict: (Verdict & { kind: 'red' }) | { readonly kind: 'broken'; readonly message: string },
): Failure {
  if (verdict.kind === 'red') return redGate(effect, verdict);
  return { kind: 'commit-failed', message: verdict.message };
}

/** Performs a land effect: the head moves to the last candidate, and all of them have landed. */
export async function landCandidates(
  ground: Ground,
  { onto, candidates, teachers }: LandEffect,
  report: (fact: Event) => void,
): Promise<void> {
  const [first, ...others] = candidates;
  const last = candidates.at(-1);
  assert(first !== undefined && last !== undefined, 'nothing lands without a candidate');
  const landed = await moveBranch(ground, { onto, commit: last.commit });
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
  await learnFrom(ground, { onto, works: teachers }, AbortSignal.timeout(MOVE_LIMIT_MS));
}

/** From here on nothing stops it: a branch that has moved must be told of. */
async function moveBranch(ground: Ground, { onto, commit }: Landed): Promise<Landed | Failure> {
  const signal = AbortSignal.timeout(MOVE_LIMIT_MS);
  const { commonDir } = ground.repository;
  ground.assertHeld();
  const ref = runRef(ground);
  let swap = await updateRef(commonDir, ref, { to: commit, from: onto }, signal);
  if (swap.kind === 'lost' && swap.actual === null) {
    swap = await updateRef(commonDir, ref, { to: commit, from: null }, signal); // It was deleted.
  }
  if (swap.kind === 'lost' && swap.actual !== commit) {
    const message = `Somebody else moved ${runRef(ground)} to ${swap.actual ?? 'nothing'}.`;
    return { kind: 'interrupted', message };
  }
  return { onto, commit };
}

/** Rebased commits are nobody's merge: the one that lands them is called like their own. */
function messageFor({ plan, run }: Ground, { task, credit }: MergeEffect): string {
  const spec = plan.tasks.find(({ id }) => id === task);
  assert(spec !== undefined, `no task ${task} in the plan`);
  const { conventions, landing } = plan;
  if (landing.strategy === 'rebase') return commitMessage(conventions, run, spec, credit.by);
  return mergeMessage(conventions, run, spec, credit);
}

async function holdsWork(
  ground: Ground,
  head: Sha,
  merge: Merge,
  signal: AbortSignal,
): Promise<boolean> {
  const { work, onto, strategy } = merge;
  const dir = ground.repository.commonDir;
  if (await isAncestor(dir, work, head, signal)) return true;
  if (strategy === 'squash') {
    return (await readCommit(dir, head, signal)).message.includes(workTrailer(work));
  }
  if (strategy !== 'rebase' || !(await isAncestor(dir, onto, head, signal))) return false;
  const generated = generatedScope(ground.plan);
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

/** The failure of work on which a gate is red. */
export function redGate(
  { landedSince }: Pick<VerifyEffect, 'landedSince'>,
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
  return { kind, message: 'Stopped while it was being landed; the work is committed.' };
}
