/**
 * The landing queue and whoever passes it: a candidate of its own beside the chain. Pure.
 *
 *        ┌── passer
 *   head ◄── c0 ◄── c1 …
 *
 *   L1. Both keep the rules of the queue (queue.ts). They share the slots; the passer comes first.
 *   L2. The head is moved by one of them at a time, by the chain where both could, and never while
 *       the other one is just being built on it. Nothing is begun on a head that is about to move
 *       to the other one.
 *   L3. One candidate is built at a time. Work that may pass is kept out of the chain until it can.
 */

import type { TaskId } from '../model/plan.ts';
import type { Candidate } from '../model/state.ts';
import { nextSteps, type Queue, type Step } from './queue.ts';

export interface Lanes {
  /** The chain, and all that waits. */
  readonly queue: Queue;
  readonly passer: Candidate | null;
  /** Whoever may pass next. */
  readonly next: Passing | null;
  /** Whether it is the passer that the head is being moved to. */
  readonly isPassing: boolean;
}

export interface Passing {
  readonly task: TaskId;
  readonly passes: readonly TaskId[];
}

/** A step of the chain, or of the one beside it. */
export type LaneStep =
  | { readonly lane: 'chain' | 'beside'; readonly step: Step }
  | { readonly lane: 'beside'; readonly start: Passing };

/** Everything that can be done now. */
export function laneSteps({ queue, passer, next, isPassing }: Lanes): readonly LaneStep[] {
  if (isPassing) return [];
  const isBuilding = passer !== null && passer.built === null;
  const waiting = queue.waiting.filter(({ task }) => task !== next?.task);
  const chain = nextSteps({ ...queue, waiting, busy: queue.busy + slotsOf(passer) }).filter(
    ({ kind }) => !isBuilding || (kind !== 'land' && kind !== 'build'),
  );
  const isMoving = queue.isLanding || chain.some(({ kind }) => kind === 'land');
  const isHeadInUse = queue.chain[0]?.built === null;
  const beside = passer === null || isMoving ? [] : besideSteps(queue, passer);
  if (beside.some(({ kind }) => kind !== 'land' || !isHeadInUse)) return of('beside', beside);
  const isFree = queue.chain.every(({ built }) => built !== null) && !isMoving;
  if (next === null || passer !== null || !isFree) return of('chain', chain);
  const others = chain.filter(({ kind }) => kind !== 'build');
  return [...of('chain', others), { lane: 'beside', start: next }];
}

function of(lane: 'chain' | 'beside', steps: readonly Step[]): readonly LaneStep[] {
  return steps.map((step) => ({ lane, step }));
}

function slotsOf(passer: Candidate | null): number {
  return passer?.isRunning === true ? 1 : 0;
}

/** A chain of one. */
function besideSteps(queue: Queue, passer: Candidate): readonly Step[] {
  const running = queue.chain.filter(({ isRunning }) => isRunning).length;
  const busy = queue.busy + running;
  const alone = { chain: [passer], waiting: [], suspects: new Set<TaskId>(), busy };
  return nextSteps({ ...queue, ...alone, verify: 'each' });
}
