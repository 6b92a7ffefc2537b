/**
 * From the steps of the queue (queue.ts) to facts and effects. Whatever cannot land as it is leaves
 * the queue (withdrawals.ts) before anything else is done. Pure.
 */

import { assert, unreachable } from '../base/assert.ts';
import type { LandEffect, MergeEffect, VerifyEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import { unprovenGates } from '../model/gate.ts';
import type { Plan, Sha, TaskId } from '../model/plan.ts';
import {
  type Candidate,
  chainOf,
  passerOf,
  type RunState,
  type TaskState,
  taskCost,
} from '../model/state.ts';
import type { Decision } from './decide.ts';
import { avoidedBy, inLandingOrder, inTurn, suspectLandings, suspectsIn } from './landing-order.ts';
import { type AgentsKnown, isQueued } from './next-attempt.ts';
import { type Standing, standings } from './passing.ts';
import { byPriority } from './priority.ts';
import { type LaneStep, laneSteps, type Passing, type Queue, type Step } from './queue.ts';
import { commitOf, landingWith, withdrawals, withdrawn } from './withdrawals.ts';

/** What to do for finished work. */
export function land(state: RunState, agents: AgentsKnown): readonly Decision[] {
  const { head, stopping } = state;
  if (head === null) return [];
  const gone = withdrawals(state);
  if (gone.length > 0) return gone;
  if (state.broken !== null) return [];
  if (stopping !== null && stopping.mode !== 'drain') return [];
  const queued = [...state.tasks.values()].filter((task) => isQueued(state, task, agents));
  const isOrdered = state.plan.landing.order === 'plan';
  const waiting = isOrdered
    ? inTurn(state, queued, agents)
    : inLandingOrder(state, queued.sort(byPriority(state.plan)));
  const queue = queueFor(state, head, waiting);
  const standing = queue.verify === 'off' || isOrdered ? NOBODY : standings(state, waiting);
  const passer = passerOf(state);
  const isPassing = state.landing !== null && state.landing === passer?.built?.commit;
  const steps = laneSteps({ queue, passer, next: nextPasser(standing), isPassing });
  return steps.flatMap((step) => decisionsOf(state, step, standing));
}

type Standings = ReadonlyMap<TaskId, Standing>;

const NOBODY: Standings = new Map();

function queueFor(state: RunState, head: Sha, waiting: readonly TaskState[]): Queue {
  const { landing, lingering, plan } = state;
  return {
    head,
    chain: chainOf(state),
    waiting: waiting.map((task) => ({ task: task.spec.id, avoids: avoidedBy(state, task) })),
    isLanding: landing !== null,
    suspects: suspectsIn(state),
    verify: verifyOf(plan),
    slots: plan.limits.gates,
    busy: lingering.length,
    lingering: new Set(lingering.map(({ task }) => task)),
  };
}

function nextPasser(standing: Standings): Passing | null {
  for (const [task, each] of standing) {
    if (each.kind === 'passes') return { task, passes: each.tasks };
  }
  return null;
}

/** Work that stays on its branch is verified where it is delivered. */
function verifyOf({ gates, landing }: Plan): 'each' | 'batch' | 'off' {
  return gates.length === 0 || landing.strategy === 'none' ? 'off' : landing.verify;
}

function decisionsOf(state: RunState, todo: LaneStep, standing: Standings): readonly Decision[] {
  if ('start' in todo) return [passDecision(state, todo.start)];
  const { lane, step } = todo;
  const candidates = state.queue.filter(
    ({ passes }) => (passes === undefined) === (lane === 'chain'),
  );
  if (step.kind !== 'build') return candidateDecisions(state, candidates, step);
  const stands = standing.get(step.task);
  return [buildDecision(state, step, stands?.kind === 'stays' ? { stays: stands.why } : {})];
}

function candidateDecisions(
  state: RunState,
  candidates: readonly Candidate[],
  step: Exclude<Step, { kind: 'build' }>,
): readonly Decision[] {
  switch (step.kind) {
    case 'verify': {
      const effect = verifyEffect(state, candidates[step.at]!, step.again);
      const { task, commit } = effect;
      return [{ record: { type: 'candidate.verifying', task, commit }, perform: effect }];
    }
    case 'land': {
      const { task, built } = candidates[step.upTo]!;
      assert(built !== null, `the candidate of ${task} lands before it is built`);
      const record = { type: 'merge.landing', task, commit: built.commit } as const;
      return [{ record, perform: landEffect(state, built.commit) }];
    }
    case 'eject':
      return ejection(candidates.slice(step.at));
    default:
      return unreachable(step);
  }
}

function passDecision(state: RunState, { task, passes }: Passing): Decision {
  const { head } = state;
  assert(head !== null, 'there is a head to build on');
  const step = { kind: 'build', task, onto: head, lands: false } as const;
  return buildDecision(state, step, { passes });
}

function buildDecision(
  state: RunState,
  { task: id, onto, lands }: Step & { kind: 'build' },
  way: Pick<Event & { type: 'merge.started' }, 'passes' | 'stays'>,
): Decision {
  const task = state.tasks.get(id)!;
  const commit = workOf(task);
  assert(commit !== null, `task ${id} lands without work`);
  const isBeside = way.passes !== undefined;
  const ahead = isBeside ? null : (chainOf(state).at(-1)?.task ?? null);
  const perform = mergeEffect(state, { task: id, commit, onto, ahead, lands }, isBeside);
  const attempt = task.attempts.length;
  return { record: { type: 'merge.started', task: id, attempt, commit, onto, ...way }, perform };
}

function mergeEffect(
  state: RunState,
  merge: Pick<MergeEffect, 'task' | 'commit' | 'onto' | 'ahead' | 'lands'>,
  isBeside: boolean,
): MergeEffect {
  const task = state.tasks.get(merge.task)!;
  const suspects = suspectLandings(state, task);
  const isDelivered = state.plan.landing.strategy === 'none';
  return {
    kind: 'merge',
    ...merge,
    base: baseOf(task),
    ...(suspects.length === 0 ? {} : { suspects }),
    ...(isBeside ? { beside: true } : {}),
    ...(isDelivered ? { unproven: unprovenGates(state.plan, state.proven) } : {}),
    landedSince: aheadOf(state, task, merge.ahead),
    teaches: isTeacher(task),
    credit: { by: task.attempts.at(-1)?.by ?? null, costUsd: taskCost(task) },
  };
}

/** The one to blame goes back to its agent; those behind it are built again without it. */
function ejection([culprit, ...behind]: readonly Candidate[]): readonly Decision[] {
  assert(culprit?.failure != null, 'a candidate is ejected for a reason');
  const { task, onto, failure } = culprit;
  return [
    { record: { type: 'merge.rejected', task, onto, failure } },
    ...behind
      .flatMap((each) => withdrawn(each, `It was built on the work of ${task}.`))
      .map((record) => ({ record })),
  ];
}

/** What is left to do for a candidate that an engine left behind; null where it only waits. */
export function unfinished(
  state: RunState,
  candidate: Candidate,
): MergeEffect | VerifyEffect | null {
  if (candidate.built !== null) {
    return candidate.isRunning ? verifyEffect(state, candidate, candidate.looks > 0) : null;
  }
  const { task, work: commit, onto } = candidate;
  const lands = verifyOf(state.plan) === 'off';
  const merge = { task, commit, onto, ahead: aheadIn(state, candidate), lands };
  return mergeEffect(state, merge, candidate.passes !== undefined);
}

/** The task whose candidate it is built on; null for the head. */
function aheadIn(state: RunState, candidate: Candidate): TaskId | null {
  const chain = chainOf(state);
  return chain[chain.indexOf(candidate) - 1]?.task ?? null;
}

function verifyEffect(state: RunState, candidate: Candidate, again: boolean): VerifyEffect {
  const { task, built } = candidate;
  assert(built !== null, `the candidate of ${task} is verified before it is built`);
  const landedSince = aheadOf(state, state.tasks.get(task)!, aheadIn(state, candidate));
  const { head: since } = state;
  assert(since !== null, 'there is a head to compare with');
  const alone = again && landedSince.length > 0 ? aloneOf(state.plan, candidate) : {};
  const unproven = unprovenGates(state.plan, state.proven);
  return { kind: 'verify', task, ...built, since, again, ...alone, unproven, landedSince };
}

/** A red gate is run on the work alone before a combination is blamed; not on a red base. */
function aloneOf({ gates }: Plan, { work, failure }: Candidate): Pick<VerifyEffect, 'alone'> {
  if (failure?.kind !== 'gate-failed') return {};
  const { gate } = failure;
  const isBaseRed = gates.some(({ name, base }) => name === gate && base === 'red');
  return isBaseRed ? {} : { alone: { commit: work, gate } };
}

/** The effect that moves the head; repeated after a crash. */
export function landEffect(state: RunState, to: Sha): LandEffect {
  const { head, tasks } = state;
  assert(head !== null, 'there is a head to move');
  const moving = landingWith(state, to);
  const candidates = moving.map((candidate) => {
    const commit = commitOf(candidate);
    assert(commit !== null, `the candidate of ${candidate.task} lands before it is built`);
    return { task: candidate.task, commit };
  });
  const teachers = moving.filter(({ task }) => isTeacher(tasks.get(task))).map(({ work }) => work);
  return { kind: 'land', onto: head, candidates, teachers };
}

/** Whether conflicts may have been resolved in its work. What no attempt made may be anything. */
function isTeacher(task: TaskState | undefined): boolean {
  const { attempts = [] } = task ?? {};
  return attempts.length === 0 || attempts.some(({ start }) => start.kind === 'rework');
}

/** The finished work of a task that has not landed. */
function workOf({ status }: TaskState): Sha | null {
  if (status.kind === 'committed' || status.kind === 'merging') return status.commit;
  return status.kind === 'stopped' ? status.work : null;
}

function baseOf(task: TaskState): Sha | null {
  return task.attempts.at(-1)?.base ?? null;
}

/** The work that a task's own did not see: what landed since its base, and what is ahead of it. */
function aheadOf(state: RunState, task: TaskState, last: TaskId | null): readonly TaskId[] {
  const base = baseOf(task);
  const seen = state.landed.findIndex(({ commit }) => commit === base);
  const landed = state.landed.slice(seen + 1).map((landing) => landing.task);
  const chain = chainOf(state);
  const at = chain.findIndex((candidate) => candidate.task === last);
  return [...landed, ...chain.slice(0, at + 1).map((candidate) => candidate.task)];
}
