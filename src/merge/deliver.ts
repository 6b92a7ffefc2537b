/**
 * deliver: with strategy `none` finished work stays on its task's branch, and may be pushed.
 *
 *   V1. Nothing is merged and no other ref is moved. The gates run on the work's own tree.
 *   V2. What is delivered is what was verified: a branch that somebody else moved is not pushed.
 *   V3. Idempotent: a branch that is there, or pushed, already is found so.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { pushBranch } from '../git/push.ts';
import { readRef, treeOf, updateRef } from '../git/refs.ts';
import type { MergeEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Sha } from '../model/plan.ts';
import { branchOf, type Ground } from '../workspace/ground.ts';
import { orFailure, redGate, stoppedBy } from './land.ts';
import { verify } from './verify.ts';

/** Pauses before a remote that cannot be reached is tried again. */
const PAUSES_MS = [1_000, 5_000];

/** Performs a merge effect of strategy `none`: it ends with `work.delivered` or `merge.rejected`. */
export async function deliverWork(
  ground: Ground,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task, onto } = effect;
  const delivery = () => tryDelivery(ground, effect, report, signal);
  const answer = await orFailure('delivered', delivery, signal);
  if ('kind' in answer) return report({ type: 'merge.rejected', task, onto, failure: answer });
  report({ type: 'work.delivered', task, ...answer });
}

interface Delivered {
  readonly commit: Sha;
  readonly branch: string;
  readonly pushed: string | null;
}

async function tryDelivery(
  ground: Ground,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Delivered | Failure> {
  const { task, commit } = effect;
  const { commonDir } = ground.repository;
  const branch = branchOf(ground, task);
  const tree = await treeOf(commonDir, commit, signal);
  const verdict = await verify(ground, { task, commit, tree }, report, signal);
  if (verdict.kind === 'stopped' || signal.aborted) return stoppedBy(signal);
  if (verdict.kind === 'red') return redGate(effect, verdict);
  const ref = `refs/heads/${branch}`;
  ground.assertHeld();
  const tip = await readRef(commonDir, ref, signal);
  if (tip === null) await updateRef(commonDir, ref, { to: commit, from: null }, signal);
  if (tip !== null && tip !== commit) {
    const message = `Somebody else moved ${branch} to ${tip}: only what was verified is delivered.`;
    return { kind: 'commit-failed', message };
  }
  const remote = ground.plan.landing.push ?? null;
  const failure = remote === null ? null : await push(ground, { remote, branch }, signal);
  return failure ?? { commit, branch, pushed: remote };
}

/** Pushes, more than once where the network is to blame. */
async function push(
  ground: Ground,
  to: { readonly remote: string; readonly branch: string },
  signal: AbortSignal,
): Promise<Failure | null> {
  for (let nth = 0; ; nth += 1) {
    const pushed = await pushBranch(ground.repository.dir, to, signal);
    if (pushed.kind === 'pushed') return null;
    const pause = pushed.kind === 'unreachable' ? PAUSES_MS[nth] : undefined;
    if (pause === undefined) {
      const message = `${to.branch} could not be pushed to ${to.remote}: ${pushed.why}`;
      return { kind: 'push-failed', message, ...to };
    }
    await sleep(pause, undefined, { signal });
  }
}
