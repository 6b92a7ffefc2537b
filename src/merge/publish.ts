/**
 * publish: bring what landed to the user's target branch.
 *
 *   P1. The target only ever moves forward, by compare-and-swap, to a verified commit.
 *   P2. A checkout of the target follows only where git can do that without touching the user's
 *       changes; otherwise nothing moves at all, and the message says the one command to run.
 *   P3. If the target moved meanwhile, the combination is a new candidate and is verified again.
 */

import { assert } from '../base/assert.ts';
import { OperationalError } from '../base/errors.ts';
import { fastForward } from '../git/follow.ts';
import { isAncestor, readRef, setRef, updateRef } from '../git/refs.ts';
import { checkoutOf, rebasing } from '../git/worktree.ts';
import { conflictLines } from '../model/conflict.ts';
import type { PublishEffect } from '../model/effect.ts';
import type { Event, Proof } from '../model/event.ts';
import { keptRef, runBranch } from '../model/names.ts';
import type { Sha } from '../model/plan.ts';
import type { Ground } from '../workspace/ground.ts';
import { buildCandidate } from './candidate.ts';
import { generatedScope, lostFrom, missingFrom } from './proof.ts';
import { settlerFor } from './settle.ts';
import { verify } from './verify.ts';

/** A target that keeps moving while its combination is verified. */
const MOST_ROUNDS = 5;
/** Hooks of the user's checkout may run. */
const MOVE_LIMIT_MS = 10 * 60_000;

type Answer = Event & { type: 'publish.finished' | 'publish.blocked' };

/** Performs a publish effect: the last fact it reports is `publish.finished` or `publish.blocked`. */
export async function publish(
  ground: Ground,
  effect: PublishEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const answer = await tryPublish(ground, effect, report, signal).catch((error: unknown) => {
      if (signal.aborted) return INTERRUPTED;
      if (!(error instanceof OperationalError)) throw error;
      return blocked(error.message, `git merge ${runBranch(ground.run)}`);
    });
    if (answer !== null) return report(answer);
  }
  report(blocked(`${effect.target} keeps moving.`, 'landfast resume'));
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
  if (tip === null) {
    return blocked(`The branch ${target} does not exist any more.`, `git branch ${target} ${head}`);
  }
  if (await isAncestor(commonDir, head, tip, signal)) {
    const proved = await prove(ground, effect, tip, signal);
    return { ...finished(target, tip, 'none'), proved };
  }
  const to = await combine(ground, { head, target, tip }, report, signal);
  if (typeof to !== 'string') return to;
  const proved = await prove(ground, effect, to, signal);
  if (signal.aborted) return INTERRUPTED;
  const answer = await move(ground, { head, target, tip, to });
  return answer?.type === 'publish.finished' ? { ...answer, proved } : answer;
}

/** Throws where something that landed would not reach the target. */
async function prove(
  ground: Ground,
  { head, works, rewritten }: PublishEffect,
  to: Sha,
  signal: AbortSignal,
): Promise<Proof> {
  const { commonDir } = ground.repository;
  const { strategy } = ground.plan.landing;
  const generated = generatedScope(ground.plan);
  const missing = await missingFrom(commonDir, to, works, signal);
  assert(missing === null, `${missing} has landed but is not in the history of ${to}`);
  const lost = await lostFrom(commonDir, head, { works: rewritten, strategy, generated }, signal);
  assert(lost === null, `the changes of ${lost} have landed but are not in ${head}`);
  const by = rewritten.length > 0 ? 'files' : 'history';
  return { works: works.length + rewritten.length, by };
}

/** From here on nothing stops it: a target that has moved must be told of. */
async function move(
  ground: Ground,
  { head, target, tip, to }: PublishFrom & { readonly to: Sha },
): Promise<Answer | null> {
  const signal = AbortSignal.timeout(MOVE_LIMIT_MS);
  const { commonDir } = ground.repository;
  const busy = await rebasing(commonDir, target, signal);
  if (busy !== null) {
    return blocked(`${target} is being rebased in ${busy}; it was not touched.`, 'landfast resume');
  }
  const checkout = await checkoutOf(commonDir, target, signal);
  if (checkout === null) {
    const swap = await updateRef(commonDir, `refs/heads/${target}`, { to, from: tip }, signal);
    const hasMoved = swap.kind === 'moved' || swap.actual === to;
    return hasMoved ? finished(target, to, 'none') : null;
  }
  const followed = await fastForward(checkout, to, signal);
  if (followed.kind === 'followed') return finished(target, to, 'followed');
  if (followed.kind === 'diverged') return null;
  const name = to === head ? runBranch(ground.run) : to.slice(0, 12);
  if (to !== head) await setRef(commonDir, keptRef(ground.run, '_publish'), to, signal);
  return blocked(
    `Changes in the checkout of ${target} are in the way; nothing of it was touched. ${followed.message}`,
    `Commit or stash them, then: ${gitIn(ground, checkout)} merge --ff-only ${name}`,
  );
}

/** The command as it is typed in the user's own checkout, for another one. */
function gitIn({ repository }: Ground, checkout: string): string {
  if (checkout === repository.dir) return 'git';
  return `git -C '${checkout.replaceAll("'", "'\\''")}'`;
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
    return blocked(why, `git merge ${branch}`);
  }
  if (candidate.kind === 'refused') return blocked(candidate.why, `git merge ${branch}`);
  const verdict = await verify(ground, { task: null, ...candidate }, report, signal);
  if (verdict.kind === 'green') return candidate.commit;
  if (verdict.kind === 'stopped') return INTERRUPTED;
  const why = `${target} moved meanwhile and gate ${verdict.gate} is red on the combination.`;
  return blocked(`${why}\n${verdict.output}`, `git merge ${branch}`);
}

type PublishFrom = Pick<PublishEffect, 'head' | 'target'> & { readonly tip: Sha };

function finished(
  target: string,
  commit: Sha,
  checkout: 'followed' | 'none',
): Event & { type: 'publish.finished' } {
  return { type: 'publish.finished', target, commit, checkout };
}

function blocked(why: string, remedy: string): Answer {
  return { type: 'publish.blocked', why, remedy };
}

const INTERRUPTED = blocked('It was interrupted.', 'landfast resume');
