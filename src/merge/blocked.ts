/**
 * Why a target was not moved, and the one command to run, which can be pasted where the run was
 * started. Steps for a person come before it: `…, then: command`.
 *
 * Where the landed work is verified as it is, the command only moves the target to it. Where it
 * conflicts with a moved target, the command starts a merge; where the target was rewritten, it
 * cherry-picks the landings. Where a hook may refuse, it is `landfast resume`: git itself would
 * leave the files of a refused update behind.
 */

import { shellWord } from '../base/shell-word.ts';
import type { Followed } from '../git/fast-forward.ts';
import { setRef } from '../git/refs.ts';
import { checkoutOf } from '../git/worktree.ts';
import type { Event } from '../model/event.ts';
import { keptRef, runBranch } from '../model/names.ts';
import type { Sha } from '../model/plan.ts';
import type { RunContext } from '../workspace/run-context.ts';

export type Blocked = Event & { type: 'publish.blocked' };

interface Unmoved {
  readonly target: string;
  readonly checkout: string;
  readonly head: Sha;
  /** The verified commit: the head, or its combination with a moved target. */
  readonly to: Sha;
}

/** For a temporary problem, or one that no git command fixes. */
export function tryAgain(context: RunContext, why: string): Blocked {
  return blocked(why, resume(context));
}

/** The target was deleted meanwhile: here, or under a checkout that has no commit now. */
export async function targetGone(
  context: RunContext,
  { head, base, target }: { readonly head: Sha; readonly base: Sha; readonly target: string },
  signal: AbortSignal,
): Promise<Blocked> {
  const checkout = await checkoutOf(context.repository, target, signal);
  const name = shellWord(target);
  if (checkout === null) {
    return blocked(`The branch ${target} no longer exists.`, `git branch ${name} ${head}`);
  }
  // At the head its files would look like a change that takes back all that has landed.
  const why = `The branch ${target}, which is checked out in ${checkout}, no longer exists.`;
  return blocked(why, `git branch ${name} ${base} && ${resume(context)}`);
}

export function refusedByHook(context: RunContext, target: string, said: string): Blocked {
  const why = [
    `The hook reference-transaction does not let ${target} move; nothing was touched,`,
    `and what landed is on ${runBranch(context.run)}. The hook said:`,
    said.trim() === '' ? 'nothing' : said.trim(),
  ].join(' ');
  return blocked(why, `Let it pass, then: ${resume(context)}`);
}

export async function checkoutBlocked(
  context: RunContext,
  unmoved: Unmoved,
  answer: Followed & { kind: 'in-the-way' | 'failed' },
  signal: AbortSignal,
): Promise<Blocked> {
  const { target } = unmoved;
  if (answer.kind === 'failed') {
    return tryAgain(context, `The checkout of ${target} was not updated. ${answer.why}`);
  }
  const files = answer.files.slice(0, MOST_FILES).join(', ');
  const more = answer.files.length - MOST_FILES;
  const why = [
    `Changes in the checkout of ${target} are in the way; nothing of it was touched:`,
    more > 0 ? `${files} and ${more} more` : files,
  ].join(' ');
  const git = `${gitIn(context, unmoved.checkout)} merge --ff-only`;
  const name = await nameOf(context, unmoved, signal);
  return blocked(why, `Stash them or move them away, then: ${git} ${name}`);
}

const MOST_FILES = 10;

/** The landed work conflicts with a target that moved: a person merges the two. */
export async function mergeByHand(
  context: RunContext,
  target: string,
  why: string,
  signal: AbortSignal,
): Promise<Blocked> {
  const merge = `merge ${runBranch(context.run)}`;
  return blocked(why, await onTarget(context, target, merge, signal));
}

/** The target's history was rewritten: a person cherry-picks the landings after `last`. */
export async function pickByHand(
  context: RunContext,
  { base, target }: { readonly base: Sha; readonly target: string },
  last: Sha,
  signal: AbortSignal,
): Promise<Blocked> {
  const branch = runBranch(context.run);
  const why = [
    `The history of ${target} was rewritten meanwhile: it no longer holds ${base.slice(0, 7)},`,
    `which the run started from. It was not touched; what landed is on ${branch}.`,
  ].join(' ');
  // Each landing becomes one commit; a resumed run recognises it by the note of `-x`.
  const pick = `cherry-pick -x -m 1 --first-parent ${last}..${branch}`;
  return blocked(why, await onTarget(context, target, pick, signal));
}

/** A command of git where the target is checked out, or once it is. */
async function onTarget(
  context: RunContext,
  target: string,
  command: string,
  signal: AbortSignal,
): Promise<string> {
  const checkout = await checkoutOf(context.repository, target, signal);
  if (checkout !== null) return `${gitIn(context, checkout)} ${command}`;
  return `git switch ${shellWord(target)} && git ${command}`;
}

/** A ref that holds the commit to move to. */
async function nameOf(
  context: RunContext,
  { head, to }: Unmoved,
  signal: AbortSignal,
): Promise<string> {
  if (to === head) return runBranch(context.run);
  const ref = keptRef(context.run, '_publish');
  await setRef(context.repository.commonDir, ref, to, signal);
  return ref;
}

/** The git command for a checkout, typed in the user's own. */
function gitIn({ repository }: RunContext, checkout: string): string {
  return checkout === repository.dir ? 'git' : `git -C ${shellWord(checkout)}`;
}

function resume({ run }: RunContext): string {
  return `landfast resume ${shellWord(run)}`;
}

function blocked(why: string, remedy: string): Blocked {
  return { type: 'publish.blocked', why, remedy };
}
