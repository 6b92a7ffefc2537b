/**
 * From the queue's steps (queue.ts) to facts and effects. Pure.
 *
 *   Y1. The chain is whole: the first candidate is built on the head, each other one on the one
 *       before it. Whatever is not is withdrawn before anything else is done.
 *   Y2. A head that is being moved is not disturbed: what lands with it stays where it is.
 */

import { assert, unreachable } from '../base/assert.ts';
import type { LandEffect, MergeEffect, VerifyEffect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Plan, Sha, TaskId } from '../model/plan.ts';
import type { Candidate, RunState, TaskState } from '../model/state.ts';
import type { Decision } from './decide.ts';
import { inLandingOrder, suspectsIn } from './foresight.ts';
import { byPriority } from './priority.ts';
import { nextSteps, type Step } from './queue.ts';

/** What to do for finished work. `isQueued` says which work waits to be landed. */
export function land(state: RunState, isQueued: (task: TaskState) => boolean): readonly Decision[] {
  const { head, queue, landing, plan, stopping } = state;
  if (head === null) return [];
  const gone = withdrawals(state);
  if (gone.length > 0) return gone;
  if (stopping !== null && stopping.mode !== 'drain') return [];
  const urgent = [...state.tasks.values()].filter(isQueued).sort(byPriority(plan));
  const waiting = inLandingOrder(state, urgent);
  const steps = nextSteps({
    head,
    chain: queue,
    waiting: waiting.map(({ spec, status }) => ({
      task: spec.id,
      avoids: status.kind === 'committed' ? (status.avoids ?? null) : null,
    })),
    isLanding: landing !== null,
    suspects: suspectsIn(state),
    verify: verifyOf(plan),
    slots: plan.limits.gates,
  });
  return steps.flatMap((step) => decisionsOf(state, step));
}

/** Work that stays on its branch is verified where it is delivered. */
function verifyOf({ gates, landing }: Plan): 'each' | 'batch' | 'off' {
  return gates.length === 0 || landing.strategy === 'none' ? 'off' : landing.verify;
}

/** Candidates whose time is over: the run ends, their task is cancelled, the chain is broken. */
function withdrawals(state: RunState): readonly Decision[] {
  const { queue, landing, stopping, head } = state;
  const isEnding = stopping !== null && stopping.mode !== 'drain';
  const first = landing === null ? 0 : 1 + queue.findIndex((each) => commitOf(each) === landing);
  let below = first === 0 ? head : landing;
  const from = queue.findIndex((candidate, at) => {
    if (at < first) return false;
    const isBroken = candidate.onto !== below;
    below = commitOf(candidate);
    return isEnding || isBroken || isUnwanted(state.tasks.get(candidate.task));
  });
  if (from < 0) return [];
  const why = isEnding ? 'The run is stopping.' : 'What it was built on is gone.';
  return queue.slice(from).flatMap((candidate) => withdrawn(candidate, why));
}

function isUnwanted(task: TaskState | undefined): boolean {
  return task !== undefined && (task.cancelled || task.skipped !== null);
}

/** One that is just being built cannot be called back; a moment later it can. */
function withdrawn({ task, built }: Candidate, why: string): readonly Decision[] {
  if (built === null) return [];
  return [{ record: { type: 'merge.withdrawn', task, ahead: null, why } }];
}

function decisionsOf(state: RunState, step: Step): readonly Decision[] {
  const { queue } = state;
  switch (step.kind) {
    case 'build':
      return [buildDecision(state, step)];
    case 'verify': {
      const candidate = queue[step.at]!;
      const effect = verifyEffect(state, candidate, step.again);
      const { task, commit } = effect;
      return [{ record: { type: 'candidate.verifying', task, commit }, perform: effect }];
    }
    case 'land': {
      const { task, built } = queue[step.upTo]!;
      assert(built !== null, `the candidate of ${task} lands before it is built`);
      const { commit } = built;
      const effect = landEffect(state, commit);
      return [{ record: { type: 'merge.landing', task, commit }, perform: effect }];
    }
    case 'eject':
      return ejection(queue.slice(step.at));
    default:
      return unreachable(step);
  }
}

function buildDecision(state: RunState, { task: id, onto, lands }: Step & { kind: 'build' }) {
  const task = state.tasks.get(id)!;
  const commit = workOf(task);
  assert(commit !== null, `task ${id} lands without work`);
  const attempt = task.attempts.length;
  const ahead = state.queue.at(-1)?.task ?? null;
  const landedSince = aheadOf(state, task, ahead);
  const record: Event = { type: 'merge.started', task: id, attempt, commit, onto };
  const base = baseOf(task);
  const teaches = isTeacher(task);
  const merge = { task: id, commit, onto, base, ahead, lands, landedSince, teaches };
  const perform: MergeEffect = { kind: 'merge', ...merge, ...creditFor(state, task) };
  return { record, perform };
}

/** The one to blame goes back to its agent; those behind it are built again without it. */
function ejection([culprit, ...behind]: readonly Candidate[]): readonly Decision[] {
  assert(culprit?.failure != null, 'somebody is ejected for a reason');
  const { task, onto, failure } = culprit;
  return [
    { record: { type: 'merge.rejected', task, onto, failure } },
    ...behind.flatMap((each) => withdrawn(each, `It was built on the work of ${task}.`)),
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
  const at = state.queue.indexOf(candidate);
  const ahead = state.queue[at - 1]?.task ?? null;
  const lands = verifyOf(state.plan) === 'off';
  const owner = state.tasks.get(task)!;
  const landedSince = aheadOf(state, owner, ahead);
  const base = baseOf(owner);
  const teaches = isTeacher(owner);
  const credit = creditFor(state, owner);
  return { kind: 'merge', task, commit, onto, base, ahead, lands, landedSince, teaches, ...credit };
}

function creditFor({ plan }: RunState, { attempts }: TaskState): Pick<MergeEffect, 'credit'> {
  if (plan.landing.trailers !== true) return {};
  const costUsd = attempts.reduce((sum, attempt) => sum + attempt.costUsd, 0);
  return { credit: { by: attempts.at(-1)?.by ?? null, costUsd } };
}

function verifyEffect(state: RunState, candidate: Candidate, again: boolean): VerifyEffect {
  const { task, built } = candidate;
  assert(built !== null, `the candidate of ${task} is verified before it is built`);
  const ahead = state.queue[state.queue.indexOf(candidate) - 1]?.task ?? null;
  const landedSince = aheadOf(state, state.tasks.get(task)!, ahead);
  const { head: since } = state;
  assert(since !== null, 'there is a head to compare with');
  return { kind: 'verify', task, ...built, since, again, landedSince };
}

/** The effect that moves the head; also used to go on with it after a crash. */
export function landEffect({ queue, head, tasks }: RunState, to: Sha): LandEffect {
  assert(head !== null, 'there is a head to move');
  const last = queue.findIndex((candidate) => commitOf(candidate) === to);
  const candidates = queue.slice(0, last + 1).map((candidate) => {
    const commit = commitOf(candidate);
    assert(commit !== null, `the candidate of ${candidate.task} lands before it is built`);
    return { task: candidate.task, commit };
  });
  const teachers = queue
    .slice(0, last + 1)
    .filter(({ task }) => isTeacher(tasks.get(task)))
    .map(({ work }) => work);
  return { kind: 'land', onto: head, candidates, teachers };
}

/** Whether conflicts may have been resolved in its work. What no attempt made may be anything. */
function isTeacher(task: TaskState | undefined): boolean {
  const { attempts = [] } = task ?? {};
  return attempts.length === 0 || attempts.some(({ start }) => start.kind === 'rework');
}

/** The finished work of a task that has not landed. */
export function workOf({ status }: TaskState): Sha | null {
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
  const at = state.queue.findIndex((candidate) => candidate.task === last);
  return [...landed, ...state.queue.slice(0, at + 1).map((candidate) => candidate.task)];
}

function commitOf({ built }: Candidate): Sha | null {
  return built?.commit ?? null;
}
