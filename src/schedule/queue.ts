/**
 * The landing queue: which candidate is built, verified, landed or given back next. Pure.
 *
 * Candidates form one chain, each built on the one before it and the first on the head. One
 * candidate beside the chain may pass it:
 *
 *        ┌── passer
 *   head ◄── c0 ◄── c1 ◄── c2 …        green: its exact tree has passed
 *
 * - The head moves only to a green candidate, or where nothing has to be verified.
 * - A candidate is to blame only where it is certain: red, and green without it. A first red may be
 *   an accident, so the one to blame is verified twice.
 * - What is behind an ejected candidate was built on it, and is built again without it.
 * - At most `slots` candidates are verified at a time, suspects first. The passer shares the slots
 *   and comes first.
 * - The head is moved by one lane at a time, by the chain where both could, and never while the
 *   other lane is just building on it. Nothing is built on a head that is about to move.
 * - One candidate is built at a time. Work that may pass stays out of the chain until it can.
 *
 * `each` verifies every candidate, side by side. `batch` verifies the last one, which answers for
 * all; where it is red, the chain between the last green and the first red is cut into equal parts,
 * one more than there are slots, until one candidate is left. A suspect is cut out first.
 */

import type { Sha, TaskId } from '../model/plan.ts';
import type { Candidate } from '../model/state.ts';

export interface Queue {
  readonly head: Sha;
  readonly chain: readonly Candidate[];
  /** Finished work that is not in the chain, the most urgent first. */
  readonly waiting: readonly Waiting[];
  /** Those of the chain that are likely to be red together with one before them. */
  readonly suspects: ReadonlySet<TaskId>;
  /** Whether the head is being moved. */
  readonly isLanding: boolean;
  readonly verify: 'each' | 'batch' | 'off';
  readonly slots: number;
  /** Slots that others hold: the passer, and gates of former candidates. */
  readonly busy: number;
  /** Tasks whose former candidate is still being verified: they wait for its verdict. */
  readonly lingering: ReadonlySet<TaskId>;
}

export interface Waiting {
  readonly task: TaskId;
  /** It conflicts with this one's candidate: no use to build on it. */
  readonly avoids: TaskId | null;
}

export type Step =
  /** `lands`: nothing has to be verified, so the head moves in the same step. */
  | { readonly kind: 'build'; readonly task: TaskId; readonly onto: Sha; readonly lands: boolean }
  /** `again`: it is red, and a second run shows whether that was an accident. */
  | { readonly kind: 'verify'; readonly at: number; readonly again: boolean }
  /** The head moves to this candidate, with all before it. */
  | { readonly kind: 'land'; readonly upTo: number }
  /** It is to blame, and leaves the chain; so do all behind it, for now. */
  | { readonly kind: 'eject'; readonly at: number };

/** A longer batch says too little about each of its candidates. */
const LONGEST_BATCH = 64;

/** Everything that can be done now. */
export function nextSteps(queue: Queue): readonly Step[] {
  const { chain, isLanding } = queue;
  const greens = lastGreen(queue) + 1;
  const red = chain.findIndex(({ verdict }, at) => at >= greens && verdict === 'red');
  const blamed = red === greens && isCertain(chain[red]!) ? red : -1;
  const builds = red < 0 ? buildStep(queue) : [];
  // A batch is verified when it is whole: building takes no time.
  const isGrowing = queue.verify === 'batch' && builds.length > 0;
  const verifies = isGrowing ? [] : verifySteps(queue, greens, red);
  return [
    ...(greens > 0 && !isLanding ? [{ kind: 'land', upTo: greens - 1 } as const] : []),
    ...(blamed >= 0 ? [{ kind: 'eject', at: blamed } as const] : verifies),
    ...builds,
  ];
}

/** Red at a second look, too. */
function isCertain({ looks, isRunning }: Candidate): boolean {
  return looks > 1 && !isRunning;
}

/** In a batch a green one answers for all before it; otherwise each answers for itself. */
function lastGreen({ chain, verify }: Queue): number {
  if (verify === 'batch') return chain.findLastIndex(({ verdict }) => verdict === 'green');
  const first = chain.findIndex(({ verdict }) => verdict !== 'green');
  return (first < 0 ? chain.length : first) - 1;
}

function verifySteps(queue: Queue, greens: number, red: number): readonly Step[] {
  const { chain, verify, slots, busy } = queue;
  const running = chain.filter(({ isRunning }) => isRunning).length;
  const free = slots - busy - running;
  if (free <= 0) return [];
  const end = red < 0 ? chain.length : red;
  const open = chain
    .map((_, at) => at)
    .filter((at) => at >= greens && at < end && isOpen(queue, chain[at]!));
  const chosen =
    verify === 'batch' ? cuts(queue, { open, red, free }) : urgent(queue, open).slice(0, free);
  const steps: Step[] = chosen.map((at) => ({ kind: 'verify', at, again: false }));
  // The first red is looked at again as soon as it may be the one to blame.
  const isSuspect = red >= 0 && red - greens <= 1 && !isCertain(chain[red]!);
  if (isSuspect && !chain[red]!.isRunning && steps.length < free) {
    steps.push({ kind: 'verify', at: red, again: true });
  }
  return steps;
}

function isOpen({ lingering }: Queue, { task, built, verdict, isRunning }: Candidate): boolean {
  return built !== null && verdict === 'none' && !isRunning && !lingering.has(task);
}

/** Suspects before the others. */
function urgent({ chain, suspects }: Queue, open: readonly number[]): readonly number[] {
  const isSuspect = (at: number): boolean => suspects.has(chain[at]!.task);
  return [...open.filter(isSuspect), ...open.filter((at) => !isSuspect(at))];
}

/** The last one; or, where one is red, the places that cut what is before it into equal parts. */
function cuts(
  { chain, suspects }: Queue,
  { open, red, free }: { readonly open: readonly number[]; red: number; free: number },
): readonly number[] {
  if (red < 0) {
    const last = chain.length - 1;
    return open.includes(last) ? [last] : [];
  }
  const isCutting = chain.slice(0, red).some(({ isRunning }) => isRunning);
  if (isCutting) return []; // The next cuts depend on what these tell.
  // With a suspect and without: if it is to blame, that is known in one round.
  const suspect = chain.findIndex(({ task }, at) => at <= red && suspects.has(task));
  const around = [suspect, suspect - 1].filter((at) => open.includes(at));
  if (around.length > 0) return around.slice(0, free);
  const parts = Math.min(free, open.length) + 1;
  // The red one may be to blame itself: it belongs to the last part.
  const culprits = open.length + 1;
  const places = Array.from(
    { length: parts - 1 },
    (_, part) => Math.ceil(((part + 1) * culprits) / parts) - 1,
  );
  return [...new Set(places.map((place) => open[Math.min(place, open.length - 1)]!))];
}

function buildStep(queue: Queue): readonly Step[] {
  const { chain, waiting, head, isLanding, verify } = queue;
  const lands = verify === 'off';
  const tip = chain.at(-1);
  if (tip !== undefined && tip.built === null) return [];
  const undecided = chain.filter(({ verdict }) => verdict !== 'green').length;
  if (undecided >= depthOf(queue) || (lands && isLanding)) return [];
  const inChain = new Set(chain.map(({ task }) => task));
  const next = waiting.find(({ avoids }) => avoids === null || !inChain.has(avoids));
  if (next === undefined) return [];
  return [{ kind: 'build', task: next.task, onto: tip?.built?.commit ?? head, lands }];
}

/** How many candidates are worth building: as many as are verified; in a batch, all. */
function depthOf({ verify, slots }: Queue): number {
  if (verify === 'off') return 1;
  return verify === 'batch' ? LONGEST_BATCH : slots;
}

export interface Lanes {
  /** The chain, and all that waits. */
  readonly queue: Queue;
  readonly passer: Candidate | null;
  /** The work that may pass next. */
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
