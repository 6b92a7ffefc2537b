/**
 * Brings the landed work to the user's target branch, which only moves forward, by
 * compare-and-swap, to a verified commit. If it moved meanwhile, the combination is a new candidate
 * and is verified.
 *
 * A checkout of the target follows only where git can update it without touching the user's
 * changes; otherwise nothing moves, and the message names the one command to run (blocked.ts). A
 * target whose history was rewritten during the run is not moved: a merge would bring back what the
 * user removed. A person cherry-picks the landings, each as one commit; the note of `git
 * cherry-pick -x` tells which are done.
 */

import { assert } from '../base/assert.ts';
import { explained, OperationalError } from '../base/errors.ts';
import { fastForward } from '../git/fast-forward.ts';
import { GitError, git } from '../git/git.ts';
import { areRelated, commitsAfter } from '../git/history.ts';
import { isAncestor, objectionIn, readRef, setRef, updateRef } from '../git/refs.ts';
import { checkoutAmong, listWorktrees, rebasing, type Worktree } from '../git/worktree.ts';
import { conflictLines } from '../model/conflict.ts';
import type { PublishEffect } from '../model/effect.ts';
import type { Event, Proof } from '../model/event.ts';
import { candidateRef, runBranch } from '../model/names.ts';
import type { Sha } from '../model/plan.ts';
import type { RunContext } from '../workspace/run-context.ts';
import { autoResolver } from './auto-resolve.ts';
import {
  type Blocked,
  checkoutBlocked,
  mergeByHand,
  pickByHand,
  refusedByHook,
  targetGone,
  tryAgain,
} from './blocked.ts';
import { buildCandidate } from './candidate.ts';
import { runGates } from './gates.ts';
import { generatedScope, isResult, lostFrom, missingFrom, ownCommits } from './proof.ts';

/** For a target that keeps moving while its combination is verified. */
const MOST_ROUNDS = 5;
const MOVE_LIMIT_MS = 10 * 60_000;

type Answer = (Event & { type: 'publish.finished' }) | Blocked;

/** Performs a publish effect: the last fact it reports is `publish.finished` or `publish.blocked`. */
export async function publish(
  context: RunContext,
  effect: PublishEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const answer = await tryPublish(context, effect, report, signal).catch((error: unknown) => {
      if (signal.aborted) return interrupted(context);
      if (!(error instanceof OperationalError)) throw error;
      return tryAgain(context, explained(error));
    });
    if (answer !== null) return report(answer);
  }
  report(tryAgain(context, `${effect.target} keeps moving.`));
}

/** One round; null when the target moved in the middle of it. */
async function tryPublish(
  context: RunContext,
  effect: PublishEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Answer | null> {
  const { commonDir } = context.repository;
  const { head, target } = effect;
  const tip = await readRef(commonDir, `refs/heads/${target}`, signal);
  if (tip === null) return targetGone(context, effect, signal);
  const isBehind = tip !== head && (await isAncestor(commonDir, tip, head, signal));
  const isThere = !isBehind && (await isAncestor(commonDir, head, tip, signal));
  if (!isThere && (await isRewritten(context, effect, tip, signal))) {
    const last = await lastPicked(context, effect, tip, signal);
    if (last === head) return finished(target, tip, 'none');
    return pickByHand(context, effect, last, signal);
  }
  const to = isThere ? tip : await combine(context, { head, target, tip }, report, signal);
  if (typeof to !== 'string') return to;
  const [{ proof, told }, worktrees] = await Promise.all([
    prove(context, effect, { tip, to }, signal),
    isThere ? [] : listWorktrees(context.repository, signal),
  ]);
  if (signal.aborted) return interrupted(context);
  const moved = isThere
    ? finished(target, tip, 'none')
    : await move(context, { head, target, tip, to }, worktrees);
  if (moved?.type !== 'publish.finished') return moved;
  for (const fact of told) report(fact);
  return { ...moved, proved: proof };
}

/** Throws if landed work would not reach the target; otherwise returns where all of it is. */
async function prove(
  context: RunContext,
  { base, head, landed, untold }: PublishEffect,
  { tip, to }: { readonly tip: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<{ readonly proof: Proof; readonly told: readonly Event[] }> {
  const { commonDir } = context.repository;
  const { strategy } = context.plan.landing;
  const generated = generatedScope(context.plan);
  const isMerged = strategy === 'merge';
  const works = isMerged ? landed.map(({ work }) => work) : [];
  const steps = await commitsAfter(commonDir, { from: base, to: head }, signal);
  const inLine = new Set(to === head ? steps.map(({ commit }) => commit) : []);
  const unseen = works.filter((work) => !inLine.has(work));
  const missing = await missingFrom(commonDir, to, unseen, signal);
  assert(missing === null, `${missing} has landed but is not in the history of ${to}`);
  // Work that a person landed is in the history as it is.
  const rewritten = isMerged ? [] : landed.filter(({ onto, commit }) => onto !== commit);
  const lost = await lostFrom(commonDir, head, { works: rewritten, strategy, generated }, signal);
  assert(lost === null, `the changes of ${lost} have landed but are not in ${head}`);
  const line = { head, tip, to };
  assert(await holdsLine(context, line, signal), `${head} was to be in ${to}, and is not`);
  const own = await ownCommits(commonDir, { landed, strategy, steps, ...line }, signal);
  const told = untold.flatMap((task): Event[] => {
    const proved = own.get(task);
    return proved === undefined ? [] : [{ type: 'work.proved', task, ...proved }];
  });
  const by = rewritten.length > 0 ? 'files' : 'history';
  return { proof: { works: works.length + rewritten.length, by }, told };
}

/** Whether the target holds the landed work: in its history, or rebased onto a moved target. */
async function holdsLine(
  { repository, plan }: RunContext,
  { head, tip, to }: { readonly head: Sha; readonly tip: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<boolean> {
  const { commonDir } = repository;
  if (await isAncestor(commonDir, head, to, signal)) return true;
  const generated = generatedScope(plan);
  const merge = { work: head, onto: tip, commit: to, message: 'Proof', generated } as const;
  return isResult(commonDir, { ...merge, strategy: 'rebase' }, signal);
}

/** Not interruptible: a target that has moved must be reported. */
async function move(
  context: RunContext,
  { head, target, tip, to }: PublishFrom & { readonly to: Sha },
  worktrees: readonly Worktree[],
): Promise<Answer | null> {
  const signal = AbortSignal.timeout(MOVE_LIMIT_MS);
  const { commonDir } = context.repository;
  const busy = await rebasing(worktrees, target);
  if (busy !== null) {
    return tryAgain(context, `${target} is being rebased in ${busy}; it was not touched.`);
  }
  const checkout = checkoutAmong(worktrees, target);
  context.assertHeld();
  if (checkout === null) return moveAlone(context, { target, tip, to }, signal);
  const followed = await fastForward({ dir: checkout, commonDir }, to, signal);
  switch (followed.kind) {
    case 'followed':
      return finished(target, to, 'followed');
    case 'diverged':
      return null;
    case 'refused':
      return refusedByHook(context, target, followed.said);
    default:
      return checkoutBlocked(context, { target, checkout, head, to }, followed, signal);
  }
}

/** The target is not checked out anywhere. */
async function moveAlone(
  context: RunContext,
  { target, tip, to }: { readonly target: string; readonly tip: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<Answer | null> {
  const { commonDir } = context.repository;
  const ref = `refs/heads/${target}`;
  try {
    const swap = await updateRef(commonDir, ref, { to, from: tip }, signal);
    const hasMoved = swap.kind === 'moved' || swap.actual === to;
    return hasMoved ? finished(target, to, 'none') : null;
  } catch (error) {
    const said = error instanceof GitError ? objectionIn(error.result.stderr) : null;
    if (said === null) throw error;
    return refusedByHook(context, target, said);
  }
}

/** The commit to move the target to: the head, or its verified combination with a moved target. */
async function combine(
  context: RunContext,
  { head, target, tip }: PublishFrom,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Sha | Answer> {
  const { commonDir } = context.repository;
  if (await isAncestor(commonDir, tip, head, signal)) return head;
  const branch = runBranch(context.run);
  const isLine = context.plan.landing.strategy === 'rebase';
  const message = isLine ? `Land ${branch}` : `Merge ${branch} into ${target}`;
  const strategy = isLine ? 'rebase' : 'merge';
  const autoResolve = autoResolver(context);
  const merge = { work: head, onto: tip, message, strategy, autoResolve } as const;
  const candidate = await buildCandidate(commonDir, merge, signal);
  if (candidate.kind === 'conflict') {
    const lines = conflictLines(candidate).join('\n');
    const why = `${target} moved meanwhile and conflicts with what landed:\n${lines}`;
    return mergeByHand(context, target, why, signal);
  }
  if (candidate.kind === 'refused') return tryAgain(context, candidate.why);
  // No task id begins with an underscore.
  const ref = candidateRef(context.run, '_publication');
  await setRef(commonDir, ref, candidate.commit, signal);
  const verdict = await runGates(context, { task: null, ...candidate }, report, signal);
  if (verdict.kind === 'green') return candidate.commit;
  if (verdict.kind === 'stopped') return interrupted(context);
  const why = `${target} moved meanwhile and gate ${verdict.gate} is red on the combination.`;
  return mergeByHand(context, target, `${why}\n${verdict.output}`, signal);
}

type PublishFrom = Pick<PublishEffect, 'head' | 'target'> & { readonly tip: Sha };

function finished(
  target: string,
  commit: Sha,
  checkout: 'followed' | 'none',
): Event & { type: 'publish.finished' } {
  return { type: 'publish.finished', target, commit, checkout };
}

function interrupted(context: RunContext): Blocked {
  return tryAgain(context, 'It was interrupted.');
}

/** Whether the history of the target at `tip` no longer holds the base of the run. */
async function isRewritten(
  { repository: { commonDir }, plan }: RunContext,
  { base, head }: Pick<PublishEffect, 'base' | 'head'>,
  tip: Sha,
  signal: AbortSignal,
): Promise<boolean> {
  if (await isAncestor(commonDir, base, tip, signal)) return false;
  // A run based on a remote's branch may publish to a branch that never held its base.
  return plan.base === undefined || !(await areRelated(commonDir, head, tip, signal));
}

/** The newest landing that was cherry-picked onto the target, or the base. */
async function lastPicked(
  { repository: { commonDir } }: RunContext,
  { base, head }: Pick<PublishEffect, 'base' | 'head'>,
  tip: Sha,
  signal: AbortSignal,
): Promise<Sha> {
  const landings = ['rev-list', '--first-parent', `^${base}`, head];
  const notes = ['log', '--format=%B', '--fixed-strings', `--grep=${NOTE}`, `^${base}`, tip, '--'];
  const [commits, picked] = await Promise.all([
    git(commonDir, landings, signal),
    git(commonDir, notes, signal),
  ]);
  const line = commits.stdout.split('\n').filter((id) => id !== '');
  return line.find((id) => picked.stdout.includes(`${NOTE}${id})`)) ?? base;
}

const NOTE = '(cherry picked from commit ';
