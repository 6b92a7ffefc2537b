/**
 * Candidates that leave the queue without blame. Pure.
 *
 * - The chain is whole: its first candidate is built on the head, each other one on the one before
 *   it; a passer is built on the head. Any other is withdrawn before anything else is done.
 * - A head that is being moved is not disturbed: what lands with it stays where it is.
 * - Gates go on only where their verdict may serve the next candidate of the same work
 *   (passing.ts), and that work is still wanted.
 */

import type { Sha, TaskId } from '../model/plan.ts';
import {
  type Candidate,
  chainOf,
  passerOf,
  pendingInstructions,
  type RunState,
} from '../model/state.ts';
import type { Decision } from './decide.ts';
import { landedSince, leavesVerdicts } from './passing.ts';

/** Candidates whose time is over: the run ends, their task is cancelled, the head moved away. */
export function withdrawals(state: RunState): readonly Decision[] {
  const chain = brokenChain(state);
  const passer = passerOf(state);
  const beside = passer !== null && isStale(state, passer) ? [passer] : [];
  const base = chain[0]?.onto ?? null;
  const left = [...chain, ...beside];
  return [
    ...chain.flatMap((each) => withdrawal(state, each, base)),
    ...beside.flatMap((each) => withdrawal(state, each, each.onto)),
    ...dropped(state).filter(({ task }) => !left.some((each) => each.task === task)),
  ].map((record) => ({ record }));
}

/** The candidates that land when the head is moved to a commit. */
export function landingWith(state: RunState, to: Sha): readonly Candidate[] {
  const passer = passerOf(state);
  if (passer !== null && commitOf(passer) === to) return [passer];
  const chain = chainOf(state);
  return chain.slice(0, 1 + chain.findIndex((each) => commitOf(each) === to));
}

/** The fact that a candidate leaves. One that is being built cannot be called back yet. */
export function withdrawn({ task, built }: Candidate, why: string) {
  return built === null ? [] : [{ type: 'merge.withdrawn', task, ahead: null, why } as const];
}

export function commitOf({ built }: Candidate): Sha | null {
  return built?.commit ?? null;
}

/** From the first that is not on what is before it, or is not wanted, to the last. */
function brokenChain(state: RunState): readonly Candidate[] {
  const { head, landing } = state;
  const moving = landing === null ? [] : landingWith(state, landing);
  const isMoved = moving.some(({ passes }) => passes === undefined);
  const chain = chainOf(state).slice(isMoved ? moving.length : 0);
  let below = isMoved ? landing : head;
  const from = chain.findIndex((candidate) => {
    const isBroken = candidate.onto !== below;
    below = commitOf(candidate);
    return isEnding(state) || isBroken || isUnwanted(state, candidate.task);
  });
  return from < 0 ? [] : chain.slice(from);
}

function isStale(state: RunState, passer: Candidate): boolean {
  if (state.landing !== null && commitOf(passer) === state.landing) return false;
  return isEnding(state) || passer.onto !== state.head || isUnwanted(state, passer.task);
}

/** `base`: what the first candidate that leaves was built on. */
function withdrawal(state: RunState, candidate: Candidate, base: Sha | null) {
  const { broken } = state;
  if (isEnding(state)) {
    const why = broken === null ? 'The run is stopping.' : `Gate ${broken.gate} is broken.`;
    return withdrawn(candidate, why);
  }
  const passed = base === null ? [] : landedSince(state, base);
  if (passed.length === 0) return withdrawn(candidate, 'What it was built on is gone.');
  const names = passed.join(', ');
  const isPasser = candidate.passes !== undefined;
  const why = isPasser ? `${names} landed before it.` : `The work of ${names} has passed it.`;
  const { task, isRunning } = candidate;
  const isAsked = isRunning || state.lingering.some((each) => each.task === task);
  const lingers = isAsked && !isUnwanted(state, task) && leavesVerdicts(state, passed);
  const more = lingers ? ({ lingers } as const) : {};
  return withdrawn(candidate, why).map((fact) => ({ ...fact, ...more }));
}

/** Verdicts that are of no use any more. */
function dropped(state: RunState) {
  return state.lingering
    .filter(({ task }) => isEnding(state) || isUnwanted(state, task))
    .map((each) => ({ type: 'candidate.dropped', ...each }) as const);
}

/** Whether nothing of the queue is to land for now: the run ends, or a gate is broken. */
function isEnding({ stopping, broken }: RunState): boolean {
  return broken !== null || (stopping !== null && stopping.mode !== 'drain');
}

function isUnwanted({ tasks }: RunState, id: TaskId): boolean {
  const task = tasks.get(id);
  if (task === undefined) return false;
  return task.cancelled || task.skipped !== null || pendingInstructions(task).length > 0;
}
