/**
 * publish: bring what landed to the user's target branch.
 *
 *   P1. The target only ever moves forward, by compare-and-swap, to a verified commit.
 *   P2. A checkout of the target follows only where git can do that without touching the user's
 *       changes; otherwise nothing moves at all, and the message says the one command to run
 *       (blocked.ts).
 *   P3. If the target moved meanwhile, the combination is a new candidate and is verified again.
 *   P4. A target whose history was rewritten is not moved (rewritten.ts).
 */

import { assert } from '../base/assert.ts';
import { OperationalError } from '../base/errors.ts';
import { fastForward } from '../git/fast-forward.ts';
import { GitError } from '../git/git.ts';
import { objectionIn } from '../git/held-ref.ts';
import { commitsAfter } from '../git/history.ts';
import { isAncestor, readRef, setRef, updateRef } from '../git/refs.ts';
import { checkoutAmong, listWorktrees, rebasing, type Worktree } from '../git/worktree.ts';
import { conflictLines } from '../model/conflict.ts';
import type { PublishEffect } from '../model/effect.ts';
import type { Event, Proof } from '../model/event.ts';
import { candidateRef, runBranch } from '../model/names.ts';
import type { Sha } from '../model/plan.ts';
import type { Ground } from '../workspace/ground.ts';
import {
  type Blocked,
  cannotFollow,
  doesNotFit,
  gone,
  mustBePicked,
  refusedByHook,
  tryAgain,
} from './blocked.ts';
import { buildCandidate } from './candidate.ts';
import { generatedScope, isResult, lostFrom, missingFrom, ownCommits } from './proof.ts';
import { isRewritten, lastPicked } from './rewritten.ts';
import { settlerFor } from './settle.ts';
import { verify } from './verify.ts';

/** A target that keeps moving while its combination is verified. */
const MOST_ROUNDS = 5;
/** Hooks of the user's checkout may run. */
const MOVE_LIMIT_MS = 10 * 60_000;

type Answer = (Event & { type: 'publish.finished' }) | Blocked;

/** Performs a publish effect: the last fact it reports is `publish.finished` or `publish.blocked`. */
export async function publish(
  ground: Ground,
  effect: PublishEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const answer = await tryPublish(ground, effect, report, signal).catch((error: unknown) => {
      if (signal.aborted) return interrupted(ground);
      if (!(error instanceof OperationalError)) throw error;
      return tryAgain(ground, error.message);
    });
    if (answer !== null) return report(answer);
  }
  report(tryAgain(ground, `${effect.target} keeps moving.`));
}

/** One round; null when the target moved in the middle of it. */
async function tryPublish(
  ground: Ground,
  effect: PublishEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Answer | null> {
  const { commonDir } = ground.repository;
  const { head, target } = effect;
  const tip = await readRef(commonDir, `refs/heads/${target}`, signal);
  if (tip === null) return gone(ground, effect, signal);
  const isBehind = tip !== head && (await isAncestor(commonDir, tip, head, signal));
  const isThere = !isBehind && (await isAncestor(commonDir, head, tip, signal));
  if (!isThere && (await isRewritten(ground, effect, tip, signal))) {
    return await pickedByHand(ground, effect, tip, signal);
  }
  const to = isThere ? tip : await combine(ground, { head, target, tip }, report, signal);
  if (typeof to !== 'string') return to;
  const [{ proof, told }, worktrees] = await Promise.all([
    prove(ground, effect, { tip, to }, signal),
    isThere ? [] : listWorktrees(ground.repository, signal),
  ]);
  if (signal.aborted) return interrupted(ground);
  const moved = isThere
    ? finished(target, tip, 'none')
    : await move(ground, { head, target, tip, to }, worktrees);
  if (moved?.type !== 'publish.finished') return moved;
  for (const fact of told) report(fact);
  return { ...moved, proved: proof };
}

/** What has become of a rewritten target: a person has picked all that landed, or has to. */
async function pickedByHand(
  ground: Ground,
  effect: PublishEffect,
  tip: Sha,
  signal: AbortSignal,
): Promise<Answer> {
  const { head, target } = effect;
  const last = await lastPicked(ground, effect, tip, signal);
  if (last === head) return finished(target, tip, 'none');
  return mustBePicked(ground, effect, last, signal);
}

/** Throws where something that landed would not reach the target; else says where all of it is. */
async function prove(
  ground: Ground,
  { base, head, landed, untold }: PublishEffect,
  { tip, to }: { readonly tip: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<{ readonly proof: Proof; readonly told: readonly Event[] }> {
  const { commonDir } = ground.repository;
  const { strategy } = ground.plan.landing;
  const generated = generatedScope(ground.plan);
  const isMerged = strategy === 'merge';
  const works = isMerged ? landed.map(({ work }) => work) : [];
  const steps = await commitsAfter(commonDir, { from: base, to: head }, signal);
  const inLine = new Set(to === head ? steps.map(({ commit }) => commit) : []);
  const unseen = works.filter((work) => !inLine.has(work));
  const missing = await missingFrom(commonDir, to, unseen, signal);
  assert(missing === null, `${missing} has landed but is not in the history of ${to}`);
  // What a person has landed is in the history as it is.
  const rewritten = isMerged ? [] : landed.filter(({ onto, commit }) => onto !== commit);
  const lost = await lostFrom(commonDir, head, { works: rewritten, strategy, generated }, signal);
  assert(lost === null, `the changes of ${lost} have landed but are not in ${head}`);
  const line = { head, tip, to };
  assert(await holdsLine(ground, line, signal), `${head} was to be in ${to}, and is not`);
  const own = await ownCommits(commonDir, { landed, strategy, steps, ...line }, signal);
  const told = untold.flatMap((task): Event[] => {
    const proved = own.get(task);
    return proved === undefined ? [] : [{ type: 'work.proved', task, ...proved }];
  });
  const by = rewritten.length > 0 ? 'files' : 'history';
  return { proof: { works: works.length + rewritten.length, by }, told };
}

/** Whether the target has the run's line: in its history, or made again on what it had become. */
async function holdsLine(
  { repository, plan }: Ground,
  { head, tip, to }: { readonly head: Sha; readonly tip: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<boolean> {
  const { commonDir } = repository;
  if (await isAncestor(commonDir, head, to, signal)) return true;
  const generated = generatedScope(plan);
  const merge = { work: head, onto: tip, commit: to, message: 'Proof', generated } as const;
  return isResult(commonDir, { ...merge, strategy: 'rebase' }, signal);
}

/** From here on nothing stops it: a target that has moved must be told of. */
async function move(
  ground: Ground,
  { head, target, tip, to }: PublishFrom & { readonly to: Sha },
  worktrees: readonly Worktree[],
): Promise<Answer | null> {
  const signal = AbortSignal.timeout(MOVE_LIMIT_MS);
  const { commonDir } = ground.repository;
  const busy = await rebasing(worktrees, target);
  if (busy !== null) {
    return tryAgain(ground, `${target} is being rebased in ${busy}; it was not touched.`);
  }
  const checkout = checkoutAmong(worktrees, target);
  ground.assertHeld();
  if (checkout === null) return moveAlone(ground, { target, tip, to }, signal);
  const followed = await fastForward({ dir: checkout, commonDir }, to, signal);
  switch (followed.kind) {
    case 'followed':
      return finished(target, to, 'followed');
    case 'diverged':
      return null;
    case 'refused':
      return refusedByHook(ground, target, followed.said);
    default:
      return cannotFollow(ground, { target, checkout, head, to }, followed, signal);
  }
}

/** A target that is checked out nowhere has no files to look after. */
async function moveAlone(
  ground: Ground,
  { target, tip, to }: { readonly target: string; readonly tip: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<Answer | null> {
  const { commonDir } = ground.repository;
  const ref = `refs/heads/${target}`;
  try {
    const swap = await updateRef(commonDir, ref, { to, from: tip }, signal);
    const hasMoved = swap.kind === 'moved' || swap.actual === to;
    return hasMoved ? finished(target, to, 'none') : null;
  } catch (error) {
    const said = error instanceof GitError ? objectionIn(error.result.stderr) : null;
    if (said === null) throw error;
    return refusedByHook(ground, target, said);
  }
}

/** What the target would move to: the head, or its verified combination with a moved target. */
async function combine(
  ground: Ground,
  { head, target, tip }: PublishFrom,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Sha | Answer> {
  const { commonDir } = ground.repository;
  if (await isAncestor(commonDir, tip, head, signal)) return head;
  const branch = runBranch(ground.run);
  const isLine = ground.plan.landing.strategy === 'rebase';
  const message = isLine ? `Land ${branch}` : `Merge ${branch} into ${target}`;
  const strategy = isLine ? 'rebase' : 'merge';
  const settle = settlerFor(ground);
  const merge = { work: head, onto: tip, message, strategy, settle } as const;
  const candidate = await buildCandidate(commonDir, merge, signal);
  if (candidate.kind === 'conflict') {
    const lines = conflictLines(candidate).join('\n');
    const why = `${target} moved meanwhile and conflicts with what landed:\n${lines}`;
    return doesNotFit(ground, target, why, signal);
  }
  if (candidate.kind === 'refused') return tryAgain(ground, candidate.why);
  // The name of no task: those have no underscore in front.
  const ref = candidateRef(ground.run, '_publication');
  await setRef(commonDir, ref, candidate.commit, signal);
  const verdict = await verify(ground, { task: null, ...candidate }, report, signal);
  if (verdict.kind === 'green') return candidate.commit;
  if (verdict.kind === 'stopped') return interrupted(ground);
  const why = `${target} moved meanwhile and gate ${verdict.gate} is red on the combination.`;
  return doesNotFit(ground, target, `${why}\n${verdict.output}`, signal);
}

type PublishFrom = Pick<PublishEffect, 'head' | 'target'> & { readonly tip: Sha };

function finished(
  target: string,
  commit: Sha,
  checkout: 'followed' | 'none',
): Event & { type: 'publish.finished' } {
  return { type: 'publish.finished', target, commit, checkout };
}

function interrupted(ground: Ground): Blocked {
  return tryAgain(ground, 'It was interrupted.');
}
