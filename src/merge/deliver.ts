/**
 * With strategy `none` finished work stays on its task's branch, and may be pushed. Nothing is
 * merged and no other ref moves. Only verified work is delivered: a branch that was moved meanwhile
 * is not pushed. One that exists, or is pushed already, counts as delivered.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { readRef, treeOf, updateRef } from '../git/refs.ts';
import { pushBranch } from '../git/remote.ts';
import type { MergeEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Sha } from '../model/plan.ts';
import { branchOf, type RunContext } from '../workspace/run-context.ts';
import { runGates } from './gates.ts';
import { orFailure, stoppedBy } from './land.ts';
import { brokenGate, redGate } from './verify.ts';

/** Pauses before a remote that cannot be reached is tried again. */
const PAUSES_MS = [1_000, 5_000];

/** Performs a merge effect of strategy `none`: it ends with `work.delivered`, `merge.rejected` or `gate.broken`. */
export async function deliverWork(
  context: RunContext,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { task, onto } = effect;
  const delivery = () => tryDelivery(context, effect, report, signal);
  const answer = await orFailure('delivered', delivery, signal);
  if ('type' in answer) return report(answer);
  if ('kind' in answer) return report({ type: 'merge.rejected', task, onto, failure: answer });
  report({ type: 'work.delivered', task, ...answer });
}

interface Delivered {
  readonly commit: Sha;
  readonly branch: string;
  readonly pushed: string | null;
}

async function tryDelivery(
  context: RunContext,
  effect: MergeEffect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Delivered | Failure | (Event & { type: 'gate.broken' })> {
  const { task, commit, onto, base, unproven = [] } = effect;
  const { commonDir } = context.repository;
  const branch = branchOf(context, task);
  const tree = await treeOf(commonDir, commit, signal);
  const verdict = await runGates(context, { task, commit, tree }, report, signal);
  if (verdict.kind === 'stopped' || signal.aborted) return stoppedBy(signal);
  if (verdict.kind === 'red') {
    const doubt = { task, base: base ?? onto, unproven, verdict };
    const broken = await brokenGate(context, doubt, report, signal);
    if (broken === 'stopped') return stoppedBy(signal);
    return broken ?? redGate(effect, verdict);
  }
  const ref = `refs/heads/${branch}`;
  context.assertHeld();
  const tip = await readRef(commonDir, ref, signal);
  if (tip === null) await updateRef(commonDir, ref, { to: commit, from: null }, signal);
  if (tip !== null && tip !== commit) {
    const message = `Another process moved ${branch} to ${tip}: only what was verified is delivered.`;
    return { kind: 'commit-failed', message };
  }
  const remote = context.plan.landing.push ?? null;
  const failure = remote === null ? null : await push(context, { remote, branch }, signal);
  return failure ?? { commit, branch, pushed: remote };
}

/** Pushes; repeats where the remote cannot be reached. */
async function push(
  context: RunContext,
  to: { readonly remote: string; readonly branch: string },
  signal: AbortSignal,
): Promise<Failure | null> {
  for (let nth = 0; ; nth += 1) {
    const pushed = await pushBranch(context.repository.dir, to, signal);
    if (pushed.kind === 'pushed') return null;
    const pause = pushed.kind === 'unreachable' ? PAUSES_MS[nth] : undefined;
    if (pause === undefined) {
      const message = `${to.branch} could not be pushed to ${to.remote}: ${pushed.why}`;
      return { kind: 'push-failed', message, ...to };
    }
    await sleep(pause, undefined, { signal });
  }
}
