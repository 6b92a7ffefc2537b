/**
 * RunState: everything that is known of a run. Made by the fold (fold.ts) and by nobody else.
 *
 *   waiting ──► running ──► committed ──► merging ──► landed
 *                 │  ▲ │                     │
 *           retry ▼  │ └──► done             ├──► delivered
 *               stopped ◄────────────────────┘ rejected
 *                 └──► failed ──► stopped   (retried; waiting ──► failed when a needed task failed)
 *
 * `done` is a read task that succeeded, or a write task that had nothing to change. `delivered` is
 * work that stays on its branch, because the plan wants nothing merged.
 *
 *   S1. Ready, blocked, progress and time left are computed from it and never stored.
 *   S2. Outside of fold.ts all of it is readonly.
 */

import type { SettledFile } from './conflict.ts';
import type { AttemptStart, Proof, ProvedWork, RunOutcome, SelfReport, StopMode } from './event.ts';
import type { Failure } from './failure.ts';
import type { Shortage } from './machine.ts';
import type { Doer, Plan, Sha, TaskId, TaskSpec } from './plan.ts';
import type { Radar } from './radar.ts';

export interface RunState {
  readonly seq: number;
  readonly plan: Plan;
  readonly planHash: string;
  readonly base: Sha | null;
  readonly target: string | null;
  /** Where the run's branch is: `base` plus all that has landed. */
  readonly head: Sha | null;
  readonly tasks: ReadonlyMap<TaskId, TaskState>;
  /** Agents that are in trouble, or have been; by name. */
  readonly agents: ReadonlyMap<string, AgentState>;
  /** In the order of landing. */
  readonly landed: readonly Landing[];
  /** Work on its way to the head: the chain, and whoever passes it, in the order of coming. */
  readonly queue: readonly Candidate[];
  /** The candidate that the head is being moved to. */
  readonly landing: Sha | null;
  /** Candidates that have left the queue while their gates run on. */
  readonly lingering: readonly Lingering[];
  /** What is foreseen of work that has not landed. */
  readonly radar: Radar;
  readonly stopping: { readonly mode: StopMode; readonly why: string } | null;
  readonly paused: { readonly suspended: boolean } | null;
  /** What the machine is short of while that keeps tasks from starting. */
  readonly held: { readonly of: Shortage; readonly why: string } | null;
  readonly publish: Publish;
  readonly outcome: RunOutcome | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** The time of the last entry. */
  readonly at: number;
}

/** What is known of an agent that concerns all of its tasks. */
export interface AgentState {
  /** No attempt of it begins until somebody resumes the run or retries a task that it may do. */
  readonly refusal: {
    readonly task: TaskId;
    readonly kind: 'auth' | 'billing';
    readonly message: string;
  } | null;
  /** The limit it has run into, until an attempt that began afterwards got through. */
  readonly limit: Limit | null;
}

export interface Limit {
  /** When it was hit, or hit again. */
  readonly at: number;
  /** When it resets, where the agent said so (ms since 1970). */
  readonly retryAt: number | null;
  /** How often in a row it was hit, each time by an attempt that began after the time before. */
  readonly hits: number;
  /** Tasks whose running attempts began after it was hit. */
  readonly probes: readonly TaskId[];
}

export interface TaskState {
  readonly spec: TaskSpec;
  readonly status: Status;
  readonly attempts: readonly Attempt[];
  /** How often finished work went back because it did not land. */
  readonly reworks: number;
  /** Attempts that do not count against `retries`: from before the run was resumed. */
  readonly forgiven: number;
  readonly cancelled: boolean;
  /** Somebody gave it up. */
  readonly skipped: { readonly satisfied: boolean } | null;
  /** Somebody wants the next attempt now, until it has begun. */
  readonly retried: { readonly at: number; readonly fresh: boolean } | null;
  /** It was good already when the run was resumed. */
  readonly carried: boolean;
  /** The newest finished work, landed or not. */
  readonly work: Sha | null;
  /** The newest session of the task's agent. */
  readonly session: string | null;
  readonly gates: readonly GateRun[];
  /** Files of its newest candidate that did not merge by themselves. */
  readonly settled: readonly SettledFile[];
  /** Landings that were refused: a conflict or a red gate, mended later or not. */
  readonly rejections: readonly Rejection[];
  /** Where its work is in the target, once that was shown. */
  readonly proved: ProvedWork | null;
  readonly workspace: 'none' | 'live' | 'released' | 'removed' | 'kept';
  readonly keptWhy: string | null;
}

export type Status =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running' }
  | {
      readonly kind: 'stopped';
      readonly failure: Failure;
      readonly at: number;
      readonly work: Sha | null;
    }
  | {
      readonly kind: 'committed';
      readonly commit: Sha;
      readonly at: number;
      /** It conflicts with work of this task that is ahead of it and has not landed. */
      readonly avoids?: TaskId;
      /** It was to pass the queue, and the queue was faster. */
      readonly overtaken?: true;
    }
  | { readonly kind: 'merging'; readonly commit: Sha; readonly onto: Sha }
  | { readonly kind: 'landed'; readonly commit: Sha; readonly at: number }
  | {
      readonly kind: 'delivered';
      readonly commit: Sha;
      readonly branch: string;
      readonly pushed: string | null;
      readonly at: number;
    }
  | { readonly kind: 'done'; readonly at: number }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly at: number };

export interface Attempt {
  readonly attempt: number;
  readonly start: AttemptStart;
  readonly by: Doer;
  readonly base: Sha | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly failure: Failure | null;
  readonly exitCode: number | null;
  /** What it may spend of the run's budget; 0 where there is none. */
  readonly reservedUsd: number;
  readonly costUsd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly denied: readonly string[];
  /** Files of the user's checkout that changed while it ran. */
  readonly strayed: readonly string[];
  /** Files outside of its scope that it was seen to change. */
  readonly astray: readonly string[];
  readonly files: readonly string[];
  readonly outside: readonly string[];
  readonly text: string;
  /** The answer that fits the task's schema; null where it has none. */
  readonly structured: unknown;
  readonly status: SelfReport | null;
}

/** Finished work on its way to the head: merged in memory, landed only when it is green. */
export interface Candidate {
  readonly task: TaskId;
  readonly work: Sha;
  /** The head, or the candidate before it. */
  readonly onto: Sha;
  /** Null while it is being built. */
  readonly built: { readonly commit: Sha; readonly tree: Sha } | null;
  readonly verdict: 'none' | 'green' | 'red';
  /** How often its gates have been run to a verdict. */
  readonly looks: number;
  /** Whether they are being run. */
  readonly isRunning: boolean;
  /** When they were last begun. */
  readonly since?: number;
  /** The one that runs, where that is known. */
  readonly gate?: RunningGate | null;
  /** Why it is red. */
  readonly failure: Failure | null;
  /** It passes the work of these tasks: `onto` is the head, and nothing is built on it. */
  readonly passes?: readonly TaskId[];
}

export interface Lingering {
  readonly task: TaskId;
  readonly commit: Sha;
}

/** A gate that is at work, and since when. */
export interface RunningGate {
  readonly name: string;
  readonly at: number;
}

export interface GateRun {
  readonly gate: string;
  readonly tree: Sha;
  readonly ok: boolean;
  readonly ms: number;
  readonly output: string;
  readonly spared?: 'memory' | 'paths';
  readonly by?: string;
  readonly quarantined?: true;
}

export interface Rejection {
  readonly attempt: number;
  readonly onto: Sha;
  readonly failure: Failure;
  readonly at: number;
}

export interface Landing {
  readonly task: TaskId;
  readonly onto: Sha;
  readonly commit: Sha;
  readonly at: number;
}

export type Publish =
  | { readonly kind: 'none' }
  /** `early`: tasks go on meanwhile. */
  | {
      readonly kind: 'running';
      readonly head: Sha;
      readonly early: boolean;
      /** The gate that runs on the combination with a target that moved. */
      readonly gate?: RunningGate | null;
    }
  | {
      readonly kind: 'finished';
      /** What of the run is published: more may land after a resume. */
      readonly head: Sha | null;
      readonly target: string;
      readonly commit: Sha;
      readonly checkout: 'followed' | 'none';
      readonly proved?: Proof;
    }
  | {
      readonly kind: 'blocked';
      /** What could not be published. */
      readonly head: Sha | null;
      readonly early: boolean;
      readonly why: string;
      readonly remedy: string;
    };

/** The candidates that are built on each other, the first on the head. */
export function chainOf({ queue }: Pick<RunState, 'queue'>): readonly Candidate[] {
  return queue.filter(({ passes }) => passes === undefined);
}

/** The candidate beside the chain; null where nobody passes. */
export function passerOf({ queue }: Pick<RunState, 'queue'>): Candidate | null {
  return queue.find(({ passes }) => passes !== undefined) ?? null;
}

/** True when nothing more will happen to the task, unless the run is resumed. */
export function isOver(task: TaskState): boolean {
  return isGood(task) || task.status.kind === 'failed';
}

/** True when the task has succeeded. */
export function isGood(task: TaskState): boolean {
  const { kind } = task.status;
  return kind === 'landed' || kind === 'delivered' || kind === 'done';
}

/** What a task's agent said when it was done; empty where it has not been, or said nothing. */
export function lastWords(task: TaskState | undefined): string {
  return task?.attempts.findLast(({ text }) => text !== '')?.text ?? '';
}

/** True when tasks that need this one may start: it is good, or somebody said to go on without. */
export function isMet(task: TaskState): boolean {
  return isGood(task) || (task.status.kind === 'failed' && task.skipped?.satisfied === true);
}

/** What all attempts of all tasks have cost so far. */
export function costOf(state: RunState): number {
  let sum = 0;
  for (const task of state.tasks.values()) sum += taskCost(task);
  return sum;
}

/** What all attempts of one task have cost so far. */
export function taskCost(task: TaskState): number {
  return task.attempts.reduce((sum, { costUsd }) => sum + costUsd, 0);
}
