/**
 * Whether the machine has room for another attempt, and what makes room on its disk. Pure.
 *
 * - A shortage only keeps attempts from starting; running ones are never touched. While nothing
 *   runs, memory and load hold nothing back, so a run always proceeds.
 * - The begin and end of a shortage that holds tasks back are recorded: a fold of the journal says
 *   what tasks wait for.
 * - An attempt has taken all of its memory only after a while. Until then the missing part is set
 *   aside for it.
 * - Only what holds no work is evicted: idle workspaces that no engine uses, and transcripts of
 *   runs that have succeeded, oldest first.
 */

import type { Event, RunOutcome } from '../model/event.ts';
import {
  ATTEMPT_BYTES,
  LEAST_FREE_BYTES,
  type Machine,
  type Shortage,
  sizeText,
} from '../model/machine.ts';
import { usesCheckout } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import type { AgentsKnown } from './next-attempt.ts';

/** What there is too little of, and how much there is. */
export interface Short {
  readonly of: Shortage;
  readonly why: string;
}

/** What the machine has too little of, while attempts begin on it. */
export interface Scarcity {
  readonly disk: Short | null;
  /** Memory or load, once so many coding agents have begun since the machine was measured. */
  strain(begun: number): Short | null;
}

/** A shortage ends only with this much more than the limit, so that it does not flicker. */
const MARGIN = 1.1;

/** How long an attempt's memory is set aside for it. */
const GROWING_MS = 30_000;

/** Scarcity as the machine shows it. */
export function scarcityOn(
  state: RunState,
  machine: Machine,
  now: number,
  agents: AgentsKnown,
): Scarcity {
  let known: number | null = null;
  const growing = (): number => {
    known ??= growingIn(state, now, agents);
    return known;
  };
  return {
    disk: shortageOn(state, machine),
    strain: (begun) => strainOn(state, machine, growing() + begun),
  };
}

/** How many attempts began so recently that they will take more memory. */
function growingIn(state: RunState, now: number, agents: AgentsKnown): number {
  let growing = 0;
  for (const { status, spec, attempts } of state.tasks.values()) {
    if (status.kind !== 'running' || !agents(spec.agent).prose) continue;
    if (now - (attempts.at(-1)?.startedAt ?? 0) < GROWING_MS) growing += 1;
  }
  return growing;
}

/** Scarcity as recorded, for readers that cannot measure. */
export function recordedScarcity({ held }: RunState): Scarcity {
  const isStrain = held?.of === 'memory' || held?.of === 'load';
  return { disk: isStrain ? null : held, strain: () => (isStrain ? held : null) };
}

/** What keeps attempts from starting on this disk; null where nothing does. */
export function shortageOn({ plan, held }: RunState, machine: Machine): Short | null {
  const { diskFreeBytes: least = LEAST_FREE_BYTES, diskBytes: most } = plan.limits;
  const { diskFreeBytes: free, diskUsedBytes: used } = machine;
  if (free !== null && free < least * (held?.of === 'disk' ? MARGIN : 1)) {
    const why = `${sizeText(free)} are free; at least ${sizeText(least)} have to stay free`;
    return { of: 'disk', why: `${why} (limits.disk_free).` };
  }
  if (most !== undefined && used !== null && used > most) {
    const why = `Workspaces and the data of runs take ${sizeText(used)} of ${sizeText(most)}`;
    return { of: 'disk-budget', why: `${why} (limits.disk).` };
  }
  return null;
}

/** What keeps attempts from starting beside others, `growing` of which are still to take memory. */
export function strainOn(
  { plan, held }: RunState,
  machine: Machine,
  growing: number,
): Short | null {
  const { memoryPerAttempt: each = ATTEMPT_BYTES, loadPerCore: most } = plan.limits;
  const { memoryFreeBytes, loadPerCore: load } = machine;
  if (most !== undefined && load !== null && load * (held?.of === 'load' ? MARGIN : 1) > most) {
    const why = `The load is ${load.toFixed(2)} for each core; attempts start up to ${most}`;
    return { of: 'load', why: `${why} (limits.load).` };
  }
  if (memoryFreeBytes === null || each === 0) return null;
  const free = Math.max(0, memoryFreeBytes - growing * each);
  if (free >= each * (held?.of === 'memory' ? MARGIN : 1)) return null;
  const why = `${sizeText(free)} of memory are left; an attempt takes ${sizeText(each)}`;
  return { of: 'memory', why: `${why} (limits.memory_per_attempt).` };
}

/** Whether a task cannot start because of what the disk has too little of. */
export function keepsBack(short: Short | null, task: TaskState): boolean {
  if (short === null) return false;
  const hasWorkspace = task.workspace === 'live' || task.workspace === 'kept';
  return short.of === 'disk' || !(hasWorkspace || usesCheckout(task.spec));
}

/** The fact that a shortage begins or ends to keep tasks back; null for no change. */
export function turnOf({ held }: RunState, shorts: readonly Short[]): Event | null {
  const [first] = shorts;
  if (first === undefined) return held === null ? null : { type: 'run.eased' };
  if (shorts.some(({ of }) => of === held?.of)) return null;
  return { type: 'run.held', of: first.of, why: first.why };
}

export interface Evictable {
  readonly kind: 'workspace' | 'transcripts';
  readonly path: string;
  readonly run: string;
  /** When its run last did something (ms since 1970). */
  readonly at: number;
  /** Whether an engine works on its run. */
  readonly live: boolean;
  readonly outcome: RunOutcome | null;
}

/** What may go, in the order in which it goes. */
export function evictionOrder(given: readonly Evictable[]): readonly Evictable[] {
  const may = given.filter(
    ({ kind, live, outcome }) => !live && (kind === 'workspace' || outcome === 'succeeded'),
  );
  const rank = ({ kind }: Evictable): number => (kind === 'workspace' ? 0 : 1);
  return may.sort((one, other) => rank(one) - rank(other) || one.at - other.at);
}
