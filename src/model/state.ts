/**
 * RunState: everything that is known of a run. Only the fold (fold.ts) makes it.
 * The state machines of a task and a candidate are drawn in fold.ts and candidates.ts.
 *
 * - Ready, blocked, progress and time left are computed from it and never stored.
 * - Outside of fold.ts all of it is readonly.
 */

import type { SettledFile } from './conflict.ts';
import type {
  AttemptStart,
  Denial,
  Event,
  ProvedWork,
  ReviewComment,
  RunOutcome,
  SelfReport,
  StopMode,
} from './event.ts';
import type { Failure } from './failure.ts';
import type { BrokenGate } from './gate.ts';
import type { Shortage } from './machine.ts';
import type { Assignee, Plan, Sha, TaskId, TaskSpec } from './plan.ts';
import type { Finding, Radar } from './radar.ts';

export interface RunState {
  readonly seq: number;
  readonly plan: Plan;
  readonly planHash: string;
  readonly base: Sha | null;
  readonly target: string | null;
  /** Where the run's branch is: `base` plus all that has landed. */
  readonly head: Sha | null;
  readonly tasks: ReadonlyMap<TaskId, TaskState>;
  /** Agents that refuse to work or are, or were, at a limit; by name. */
  readonly agents: ReadonlyMap<string, AgentState>;
  /** In the order of landing. */
  readonly landed: readonly Landing[];
  /** Work on its way to the head: the chain and a candidate that passes it, oldest first. */
  readonly queue: readonly Candidate[];
  /** The candidate that the head is being moved to. */
  readonly landing: Sha | null;
  /** Candidates that have left the queue while their gates run on. */
  readonly lingering: readonly Lingering[];
  /** What is foreseen of work that has not landed. */
  readonly radar: Radar;
  /** Every clash of names that was foreseen, whatever became of it. */
  readonly findings: readonly Finding[];
  readonly stopping: { readonly mode: StopMode; readonly why: string } | null;
  readonly paused: { readonly suspended: boolean } | null;
  /** A person is at the terminal of its engine. */
  readonly attended: boolean;
  /** The shortage of the machine that keeps tasks from starting. */
  readonly held: { readonly of: Shortage; readonly why: string } | null;
  /** Gates that have been green at least once, and set-up once a gate has run. */
  readonly proven: ReadonlySet<string>;
  /** A gate that does not work: nothing lands until the run is continued. */
  readonly broken: (BrokenGate & { readonly task: TaskId }) | null;
  readonly publish: Publish;
  readonly outcome: RunOutcome | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** The time of the last entry. */
  readonly at: number;
}

/** What is known of an agent that concerns all of its tasks. */
export interface AgentState {
  /** None of its attempts begins until the run is resumed or one of its tasks is retried. */
  readonly refusal: {
    readonly task: TaskId;
    readonly kind: 'auth' | 'billing';
    readonly message: string;
  } | null;
  /** The limit it has hit, until an attempt that began afterwards gets through. */
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
  /** Its attempts are halted and none begins. */
  readonly paused: boolean;
  /** Notes and reviews that people sent to its agent, oldest first. */
  readonly instructions: readonly Instruction[];
  /** A person gave it up. */
  readonly skipped: { readonly satisfied: boolean } | null;
  /** The edited plan no longer has it: given up, and nothing needs it. */
  readonly removed: boolean;
  /** A person asked for the next attempt now; null once it has begun. */
  readonly retried: { readonly at: number; readonly fresh: boolean } | null;
  /** It had succeeded before the run was resumed. */
  readonly carried: boolean;
  /** The newest finished work, landed or not. */
  readonly work: Sha | null;
  /** A person has committed to it: an agent could not redo that. */
  readonly mended: boolean;
  /** The newest session of the task's agent. */
  readonly session: string | null;
  readonly gates: readonly GateRun[];
  /** Files of its newest candidate that did not merge cleanly. */
  readonly settled: readonly SettledFile[];
  /** Landings that failed on a conflict or a red gate, fixed later or not. */
  readonly rejections: readonly Rejection[];
  /** Where its work is in the target, once that is proved. */
  readonly proved: ProvedWork | null;
  readonly workspace: 'none' | 'live' | 'released' | 'removed' | 'kept';
  readonly keptWhy: string | null;
  /** Files that it left in the user's checkout although it failed. */
  readonly saved?: readonly string[];
}

/** What a person told a task's agent. */
export interface Instruction {
  readonly at: number;
  readonly note: string | null;
  readonly comments: readonly ReviewComment[];
  /** The attempts made before it: later ones are told. */
  readonly after: number;
  /** The attempt that finished with it; null until one has. */
  readonly answeredBy: number | null;
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
      /** It was passing the queue, and the queue was faster. */
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
  readonly by: Assignee;
  readonly base: Sha | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly failure: Failure | null;
  /** Tip of its branch when it failed; null if unknown. */
  readonly tip: Sha | null;
  readonly exitCode: number | null;
  /** What it may spend of the run's budget; 0 where there is none. */
  readonly reservedUsd: number;
  readonly costUsd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly denied: readonly Denial[];
  /** Files of the user's checkout that changed while it ran. */
  readonly strayed: readonly string[];
  /** Files outside of its scope that it was seen to change. */
  readonly astray: readonly string[];
  readonly files: readonly string[];
  readonly outside: readonly string[];
  /** A tool was denied, and every changed file is empty. */
  readonly empty: boolean;
  readonly text: string;
  /** The answer in the form of the task's schema; null if it has none. */
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
  /** The one that runs, if known. */
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

/** A running gate, and since when. */
export interface RunningGate {
  readonly name: string;
  readonly at: number;
}

export type GateRun = Omit<Event & { type: 'gate.finished' }, 'type' | 'task'>;

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
  /** The plan wants a person to approve the publication of this head. */
  | { readonly kind: 'awaiting' | 'approved' | 'declined'; readonly head: Sha }
  /** `early`: other tasks are still open. */
  | {
      readonly kind: 'running';
      readonly head: Sha;
      readonly early: boolean;
      /** The gate that runs on the combination with a target that moved. */
      readonly gate?: RunningGate | null;
    }
  | (Omit<Event & { type: 'publish.finished' }, 'type'> & {
      readonly kind: 'finished';
      /** What of the run is published: more may land after a resume. */
      readonly head: Sha | null;
    })
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

/** The candidate beside the chain; null where none passes. */
export function passerOf({ queue }: Pick<RunState, 'queue'>): Candidate | null {
  return queue.find(({ passes }) => passes !== undefined) ?? null;
}

/** Instructions that no attempt has finished with. */
export function pendingInstructions({ instructions }: TaskState): readonly Instruction[] {
  return instructions.filter(({ answeredBy }) => answeredBy === null);
}

/** Whether a task's processes are halted. A run that stops lets them end. */
export function isHalted({ paused, stopping, tasks }: RunState, id: TaskId): boolean {
  if (stopping !== null) return false;
  return paused?.suspended === true || tasks.get(id)?.paused === true;
}

/** Whether what has landed waits for a person's approval. */
export function awaitsApproval(state: RunState): boolean {
  const { publish, head } = state;
  return publish.kind === 'awaiting' && publish.head === head && !isHeldBack(state);
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

/** Whether a conflict keeps all of the run from the target branch. */
export function isHeldBack({ plan, tasks }: Pick<RunState, 'plan' | 'tasks'>): boolean {
  if (plan.landing.onConflict !== 'hold') return false;
  return [...tasks.values()].some(
    ({ status }) => status.kind === 'failed' && status.failure.kind === 'conflict',
  );
}

export function hasLanded({ tasks }: RunState, id: TaskId): boolean {
  return tasks.get(id)?.status.kind === 'landed';
}

/** Whether its work is not its agent's alone. */
export function isTheirs({ spec, mended }: TaskState): boolean {
  return spec.work !== undefined || mended;
}

/** A task's last words; empty if it has none. */
export function lastWords(task: TaskState | undefined): string {
  return task?.attempts.findLast(({ text }) => text !== '')?.text ?? '';
}

/** True when tasks that need this one may start: it is good, or skipped as satisfied. */
export function isMet(task: TaskState): boolean {
  return isGood(task) || (task.status.kind === 'failed' && task.skipped?.satisfied === true);
}

/** The tasks it needs that keep it from starting. */
export function unmetNeeds({ tasks }: RunState, { spec }: TaskState): readonly TaskId[] {
  return spec.needs.filter((need) => {
    const needed = tasks.get(need);
    return needed === undefined || !isMet(needed);
  });
}

/** The first task it needs that failed, unless skipped as satisfied or one of `others`. */
export function lostNeed(
  { tasks }: RunState,
  { spec }: TaskState,
  others: readonly TaskId[] = [],
): TaskId | null {
  const isLost = (id: TaskId): boolean => {
    const task = tasks.get(id);
    return task?.status.kind === 'failed' && !isMet(task) && !others.includes(id);
  };
  return spec.needs.find(isLost) ?? null;
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

/** Whether the final publication runs: nothing may begin any more. */
export function isEnding({ publish }: RunState): boolean {
  return publish.kind === 'running' && !publish.early;
}

/** Whether landing was only interrupted: the work queues again by itself. */
export function waitsToLand({ failure, work }: Status & { kind: 'stopped' }): boolean {
  return failure.kind === 'interrupted' && work !== null;
}

export type Wait =
  /** `task-paused`: a person paused this task alone. */
  | { readonly kind: 'stopping' | 'paused' | 'task-paused' }
  /** Tasks it needs that have not landed. */
  | { readonly kind: 'needs'; readonly tasks: readonly TaskId[] }
  /** Its old workspace is on its way out. */
  | { readonly kind: 'workspace' }
  /** The pause before another attempt. */
  | { readonly kind: 'retry'; readonly until: number }
  /** The agent is at its limit. */
  | { readonly kind: 'limit'; readonly agent: string; readonly until: number }
  /** The agent was at its limit, and one attempt finds out whether it still is. */
  | { readonly kind: 'probe'; readonly agent: string; readonly task: TaskId }
  /** The agent has no login or no credit; a person has to fix that. */
  | { readonly kind: 'refusal'; readonly agent: string; readonly why: 'auth' | 'billing' }
  | { readonly kind: 'slot'; readonly workers: number }
  | {
      readonly kind: 'group';
      readonly group: string;
      readonly busy: number;
      readonly limit: number;
    }
  /** Another task works in the user's checkout. */
  | { readonly kind: 'checkout'; readonly task: TaskId }
  /** Another task's work, whose scope meets its own, has not landed. */
  | { readonly kind: 'scope'; readonly task: TaskId }
  /** The machine has no room. */
  | { readonly kind: 'room'; readonly of: Shortage; readonly why: string }
  /** The run's budget is spent or reserved. */
  | { readonly kind: 'money' }
  /** It is finished: its work waits to land. */
  | { readonly kind: 'queue' }
  /** It is given up: that has yet to be recorded. */
  | { readonly kind: 'end' };

/** The tasks that failed only because one of these did, directly or through others. */
export function failedBecauseOf(state: RunState, roots: ReadonlySet<TaskId>): readonly TaskId[] {
  const found = new Set(roots);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { spec, status } of state.tasks.values()) {
      const failure = status.kind === 'failed' ? status.failure : null;
      if (failure?.kind === 'dependency-failed' && found.has(failure.dependency)) {
        found.add(spec.id);
      }
    }
  }
  return [...found].filter((id) => !roots.has(id));
}
