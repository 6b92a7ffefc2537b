/**
 * The landing queue of a run as it stands, for people and for programs.
 *
 *   Q1. Text and JSON are made from the same view and so cannot disagree.
 */

import type { Sha, TaskId } from '../model/plan.ts';
import {
  type Candidate,
  chainOf,
  passerOf,
  type RunningGate,
  type RunState,
} from '../model/state.ts';
import { brief } from './clean.ts';
import { durationText, isoTime, nameList, shortSha } from './format.ts';

export interface QueueInfo {
  readonly run: string;
  readonly now: number;
}

/** What is known of the queue. */
export function queueView(state: RunState) {
  const tasks = [...state.tasks.values()];
  const passer = passerOf(state);
  return {
    head: state.head,
    target: state.target,
    verify: state.plan.gates.length === 0 ? 'off' : state.plan.landing.verify,
    slots: state.plan.limits.gates,
    chain: chainOf(state).map((candidate, at, chain) => ({
      ...candidateView(state, candidate),
      onto: chain[at - 1]?.task ?? null,
    })),
    passing: passer && { ...candidateView(state, passer), passes: passer.passes },
    waiting: tasks.flatMap(({ spec, status }) =>
      status.kind === 'committed' ? [{ task: spec.id, behind: status.avoids ?? null }] : [],
    ),
    landed: state.landed.map(({ task, commit }) => ({ task, commit })),
    ejected: tasks.flatMap(({ spec, rejections }) =>
      rejections.map(({ failure }) => ({
        ...{ task: spec.id, kind: failure.kind, why: failure.message },
      })),
    ),
  };
}

function candidateView({ landing }: RunState, candidate: Candidate) {
  const { task, isRunning, since = null, looks } = candidate;
  const verifying = isRunning ? isoTime(since) : null;
  const { gate = null } = candidate;
  return {
    task,
    state: conditionOf(candidate, landing),
    since: verifying,
    looks,
    gate: gate?.name ?? null,
    gate_since: isoTime(gate?.at ?? null),
  };
}

export type Condition = 'being built' | 'landing' | 'verifying' | 'green' | 'red' | 'built';

/** One word or two for where a candidate is. */
export function conditionOf(
  { built, isRunning, verdict }: Candidate,
  landing: Sha | null,
): Condition {
  if (built === null) return 'being built';
  if (built.commit === landing) return 'landing';
  if (isRunning) return 'verifying';
  return verdict === 'none' ? 'built' : verdict;
}

/** A gate that is at work: `gate tests for 8.0 s`. */
export function gateText({ name, at }: RunningGate, now: number): string {
  return `gate ${brief(name, 60)} for ${durationText(Math.max(0, now - at))}`;
}

/** The queue as text. */
export function queueText(state: RunState, info: QueueInfo): string {
  const view = queueView(state);
  const goal = view.target === null ? '' : `, for ${brief(view.target, 80)}`;
  const head = view.head === null ? '' : `  head ${shortSha(view.head)}${goal}`;
  const how = view.verify === 'off' ? 'nothing is verified' : `verify ${view.verify}`;
  const lines = [
    `${brief(state.plan.name, 60)}  ${brief(info.run, 60)}  ${how}, ${view.slots} at a time${head}`,
    ...section(
      'On their way, each built on the one above it:',
      chainOf(state).map((candidate) => candidateRow(state, candidate, info.now)),
    ),
    ...section('Passing them, built on the head:', passerRows(state, info.now)),
    ...section(
      'Waiting:',
      view.waiting.map(({ task, behind }) => [task, behindText(behind)]),
    ),
    ...section(
      'Landed:',
      view.landed.map(({ task, commit }) => [task, `as ${shortSha(commit)}`]),
    ),
    ...section(
      'Did not land:',
      view.ejected.map(({ task, kind, why }) => [task, `${kind}: ${brief(why, 200)}`]),
    ),
  ];
  const isEmpty = lines.length === 1;
  return `${[...lines, ...(isEmpty ? ['', 'Nothing has queued up yet.'] : [])].join('\n')}\n`;
}

function candidateRow({ landing }: RunState, candidate: Candidate, now: number): Row {
  const condition = conditionOf(candidate, landing);
  const { since = now } = candidate;
  const time = condition === 'verifying' ? ` for ${durationText(Math.max(0, now - since))}` : '';
  const again = condition === 'verifying' && candidate.looks > 0 ? ', a second look' : '';
  const { gate = null } = candidate;
  const which = gate === null ? '' : `, ${gateText(gate, now)}`;
  return [candidate.task, `${condition}${time}${again}${which}`];
}

function passerRows(state: RunState, now: number): readonly Row[] {
  const passer = passerOf(state);
  if (passer === null) return [];
  const [task, text] = candidateRow(state, passer, now);
  return [[task, `${text}, past ${nameList(passer.passes ?? [], 8)}`]];
}

function behindText(behind: TaskId | null): string {
  return behind === null ? 'for its turn' : `behind ${brief(behind, 60)}: they do not go together`;
}

type Row = readonly [TaskId, string];

function section(title: string, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([task]) => brief(task, 60).length));
  return ['', title, ...rows.map(([task, text]) => `  ${brief(task, 60).padEnd(width)}  ${text}`)];
}
