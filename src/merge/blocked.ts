/**
 * blocked: why a target was not moved, and the one command to run.
 *
 *   K1. The command can be typed as it stands where the run was started, wherever the target is
 *       checked out. What a person has to do before it stands in front: `…, then: command`.
 *   K2. Where what landed is verified as it is, the command only moves the target to it. Where the
 *       combination with a moved target does not fit, it begins a merge of the two; where the
 *       target was rewritten, it picks what landed. Where a hook may still refuse, it is ours: git's
 *       own would leave the files of a refused branch behind.
 */

import { shellWord } from '../base/shell-word.ts';
import type { Followed } from '../git/fast-forward.ts';
import { setRef } from '../git/refs.ts';
import { checkoutOf } from '../git/worktree.ts';
import type { Event } from '../model/event.ts';
import { keptRef, runBranch } from '../model/names.ts';
import type { Sha } from '../model/plan.ts';
import type { Ground } from '../workspace/ground.ts';

export type Blocked = Event & { type: 'publish.blocked' };

/** A target whose checkout something verified was not brought to. */
export interface Unmoved {
  readonly target: string;
  readonly checkout: string;
  /** What the run's branch is at. */
  readonly head: Sha;
  /** What it should have moved to: the head, or its combination with a moved target. */
  readonly to: Sha;
}

/** Something that passes by itself, or that no command of git mends. */
export function tryAgain(ground: Ground, why: string): Blocked {
  return blocked(why, resume(ground));
}

/** The target was deleted meanwhile: here, or under a checkout that has no commit now. */
export async function gone(
  ground: Ground,
  { head, base, target }: { readonly head: Sha; readonly base: Sha; readonly target: string },
  signal: AbortSignal,
): Promise<Blocked> {
  const checkout = await checkoutOf(ground.repository, target, signal);
  const name = shellWord(target);
  if (checkout === null) {
    return blocked(`The branch ${target} does not exist any more.`, `git branch ${name} ${head}`);
  }
  // At the head its files would look like a change that takes back all that has landed.
  const why = `The branch ${target}, which is checked out in ${checkout}, does not exist any more.`;
  return blocked(why, `git branch ${name} ${base} && ${resume(ground)}`);
}

/** A hook does not let the target move. */
export function refusedByHook(ground: Ground, target: string, said: string): Blocked {
  const why = [
    `The hook reference-transaction does not let ${target} move; nothing was touched,`,
    `and what landed is on ${runBranch(ground.run)}. The hook said:`,
    said.trim() === '' ? 'nothing' : said.trim(),
  ].join(' ');
  return blocked(why, `Let it pass, then: ${resume(ground)}`);
}

/** The checkout of the target cannot follow. */
export async function cannotFollow(
  ground: Ground,
  unmoved: Unmoved,
  answer: Followed & { kind: 'in-the-way' | 'failed' },
  signal: AbortSignal,
): Promise<Blocked> {
  const { target } = unmoved;
  if (answer.kind === 'failed') {
    return tryAgain(ground, `The checkout of ${target} did not follow. ${answer.why}`);
  }
  const files = answer.files.slice(0, MOST_FILES).join(', ');
  const more = answer.files.length - MOST_FILES;
  const why = [
    `Changes in the checkout of ${target} are in the way; nothing of it was touched:`,
    more > 0 ? `${files} and ${more} more` : files,
  ].join(' ');
  // It refuses where the target cannot be moved forward any more.
  const git = `${gitIn(ground, unmoved.checkout)} merge --ff-only`;
  const name = await nameOf(ground, unmoved, signal);
  return blocked(why, `Stash them or move them away, then: ${git} ${name}`);
}

const MOST_FILES = 10;

/** What landed does not fit to what the target has become: a person merges the two. */
export async function doesNotFit(
  ground: Ground,
  target: string,
  why: string,
  signal: AbortSignal,
): Promise<Blocked> {
  const merge = `merge ${runBranch(ground.run)}`;
  return blocked(why, await onTarget(ground, target, merge, signal));
}

/** The target's history was replaced: a person picks what landed after `last`. */
export async function mustBePicked(
  ground: Ground,
  { base, target }: { readonly base: Sha; readonly target: string },
  last: Sha,
  signal: AbortSignal,
): Promise<Blocked> {
  const branch = runBranch(ground.run);
  const why = [
    `The history of ${target} was rewritten meanwhile: it no longer holds ${base.slice(0, 7)},`,
    `which the run started from. It was not touched; what landed is on ${branch}.`,
  ].join(' ');
  // Each landing becomes one commit, with a note by which a resumed run knows it (rewritten.ts).
  const pick = `cherry-pick -x -m 1 --first-parent ${last}..${branch}`;
  return blocked(why, await onTarget(ground, target, pick, signal));
}

/** A command of git where the target is checked out, or once it is. */
async function onTarget(
  ground: Ground,
  target: string,
  command: string,
  signal: AbortSignal,
): Promise<string> {
  const checkout = await checkoutOf(ground.repository, target, signal);
  if (checkout !== null) return `${gitIn(ground, checkout)} ${command}`;
  return `git switch ${shellWord(target)} && git ${command}`;
}

/** What the target should be at, by a name that holds it. */
async function nameOf(ground: Ground, { head, to }: Unmoved, signal: AbortSignal): Promise<string> {
  if (to === head) return runBranch(ground.run);
  const ref = keptRef(ground.run, '_publish');
  await setRef(ground.repository.commonDir, ref, to, signal);
  return ref;
}

/** git as it is typed in the user's own checkout, for another one. */
function gitIn({ repository }: Ground, checkout: string): string {
  return checkout === repository.dir ? 'git' : `git -C ${shellWord(checkout)}`;
}

function resume({ run }: Ground): string {
  return `landfast resume ${shellWord(run)}`;
}

function blocked(why: string, remedy: string): Blocked {
  return { type: 'publish.blocked', why, remedy };
}
