/**
 * The public types of the library, and the only place where they are written. What is added here is
 * a promise: `docs/api/landfast.api.md` is the report of it, and a test compares the two.
 */

import type { CustomAgent } from '../agents/function-agent.ts';
import type { Entry, ReviewComment, RunOutcome } from '../model/event.ts';
import type { FailureKind } from '../model/failure.ts';
import type { Plan } from '../model/plan.ts';
import type { NativePlan } from '../plan/formats/native/native-plan.ts';
import type { Problem } from '../plan/problem.ts';
import type { GateFunction } from '../workspace/run-context.ts';

/** How a repository is opened. */
export interface OpenOptions {
  /** The environment that git, gates and agents get; agents get an allow-listed part of it. Default: the caller's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Gets warnings: one sentence, or a few lines. Default: they are dropped. */
  readonly onWarning?: (text: string) => void;
  /** Ends opening early. */
  readonly signal?: AbortSignal;
}

/** A git repository in which plans run and branches land. */
export interface Repository {
  /** The root of its checkout. */
  readonly dir: string;
  /**
   * Reads and checks a plan: a file of any format, or an object (`definePlan`). Rejects with a
   * `PlanError` that has every problem.
   */
  plan(source: string | NativePlan, options?: PlanOptions): Promise<CheckedPlan>;
  /**
   * Starts a run. Its engine works in this process until the run is over, or until `signal` aborts:
   * then agents are ended, their work is kept and the run can be resumed.
   */
  start(plan: string | NativePlan | CheckedPlan, options?: RunSettings): Promise<Run>;
  /** Continues a run that no engine drives, by its id or a prefix of it. Default: the latest. */
  resume(run?: string, options?: ResumeOptions): Promise<Run>;
  /** Lands finished branches: merged in memory, verified in the combination that lands, published. */
  land(branches: readonly string[], options?: LandOptions): Promise<RunResult>;
  /** A run that this or another process drives, or that is over, by its id or a prefix of it. */
  run(id?: string): Promise<Run>;
  /** All runs, the newest first. */
  runs(): Promise<readonly RunSummary[]>;
}

export interface PlanOptions {
  /** The format, where it is not to be detected. */
  readonly format?: string;
}

/** A plan that has been checked. */
export interface CheckedPlan {
  readonly name: string;
  readonly tasks: readonly string[];
  /** Warnings: it runs nevertheless. */
  readonly problems: readonly Problem[];
  /** All of it, as the journal holds it. Read it; do not build it. */
  readonly plan: Plan;
  /** Identifies the plan: a run of it is found by this. */
  readonly hash: string;
}

/** How a run is executed. */
export interface RunSettings {
  readonly workers?: number;
  readonly budgetUsd?: number;
  /** Agents that are functions of this program, run in its process. A plan names them by `agent`. */
  readonly agents?: readonly CustomAgent[];
  /** Gates that are functions of this program, run in this process, after those of the plan. */
  readonly gates?: Readonly<Record<string, GateFunction>>;
  /** Programs to start for agents, by the agent's name. */
  readonly programs?: Readonly<Record<string, string>>;
  /** Removes no workspace, whatever its outcome. Default: false. */
  readonly keepWorkspaces?: boolean;
  /**
   * The caller answers: the run waits where it needs a person (`land.publish: ask`, a broken gate).
   * Default: false, the run ends there and can be resumed.
   */
  readonly attended?: boolean;
  /** Ends agents and keeps their work when it aborts. */
  readonly signal?: AbortSignal;
}

export interface ResumeOptions extends RunSettings {
  /** Only these tasks get a new chance. Default: all that failed. */
  readonly retry?: readonly string[];
  /** The answer for a run that ended unpublished because of `land.publish: ask`. */
  readonly publish?: boolean;
}

export interface LandOptions extends Omit<RunSettings, 'gates' | 'agents'> {
  /** The branch to land on. Default: the one that is checked out. */
  readonly target?: string;
  /** Commands that must pass: `npm test`, or `name=command`. Beside those of the configuration. */
  readonly gates?: readonly string[];
  readonly verify?: 'each' | 'batch' | 'off';
  readonly strategy?: 'merge' | 'squash' | 'rebase';
  /** The agent that resolves conflicts. Default: none, a branch that conflicts stays out. */
  readonly agent?: string;
}

/** One execution of a plan. */
export interface Run {
  readonly id: string;
  /** Entries of the journal after a sequence number, then live ones, until the run is over. */
  events(options?: EventsOptions): AsyncIterable<Entry>;
  /**
   * The end of the run. Failed tasks are data; it rejects when the engine itself fails. For a run of
   * another process it resolves when that has ended.
   */
  result(): Promise<RunResult>;
  /** Ends one task, or the whole run; work is kept. */
  cancel(task?: string): Promise<void>;
  /** No new attempts; `suspend` also halts those that run. With `tasks`: halts only these. */
  pause(options?: PauseOptions): Promise<void>;
  /** Ends the pause of the run, or of tasks. */
  continue(options?: { readonly tasks?: readonly string[] }): Promise<void>;
  /** A new chance for tasks that failed. */
  retry(tasks: readonly string[], options?: RetryOptions): Promise<void>;
  /** Sends comments on a task's work to its agent, which answers them in another attempt. */
  comment(task: string, comments: readonly ReviewComment[]): Promise<void>;
  /** Changes limits from now on. */
  limit(
    limits: Pick<RunSettings, 'workers' | 'budgetUsd'> & { readonly gates?: number },
  ): Promise<void>;
  /** Answers a run that is `attended` and waits because of `land.publish: ask`. Default: publish. */
  approve(options?: { readonly publish?: boolean }): Promise<void>;
  /** Gives tasks up. `satisfied`: tasks that need them start as if they had succeeded. */
  skip(tasks: readonly string[], options?: { readonly satisfied?: boolean }): Promise<void>;
}

export interface PauseOptions {
  readonly suspend?: boolean;
  readonly tasks?: readonly string[];
}

export interface RetryOptions {
  /** Start over instead of continuing session and work; both are kept. Default: false. */
  readonly fresh?: boolean;
  /** What the agents are told. */
  readonly note?: string;
}

export interface EventsOptions {
  /** The last sequence number that is known. Default: 0, all entries. */
  readonly after?: number;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** What became of a run. */
export interface RunResult {
  readonly run: string;
  readonly outcome: RunOutcome;
  readonly tasks: Readonly<Record<string, TaskResult>>;
  /** What landed, in order. */
  readonly landed: readonly { readonly task: string; readonly commit: string }[];
  /** The branch that got it, and the commit it is at now; null where nothing was published. */
  readonly published: { readonly target: string; readonly commit: string } | null;
  readonly costUsd: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt: number;
}

export interface TaskResult {
  readonly status: 'succeeded' | 'failed' | 'skipped' | 'unfinished';
  /** The commit by which it landed; null where nothing did. */
  readonly landed: string | null;
  readonly attempts: number;
  readonly costUsd: number;
  readonly failure: { readonly kind: FailureKind; readonly message: string } | null;
  /** The agent's last words. */
  readonly text: string;
  /** The answer that fits the task's schema; null where it has none. */
  readonly structured: unknown;
}

export interface RunSummary {
  readonly run: string;
  readonly plan: string;
  /** Null while it is not over. */
  readonly outcome: RunOutcome | null;
  /** Whether an engine drives it now. */
  readonly live: boolean;
}

export interface SimulateOptions {
  /** Milliseconds each task takes, by its id; tasks that are not named take the average. */
  readonly durations: Readonly<Record<string, number>>;
  /** Milliseconds the gates of one candidate take. Default: 0. */
  readonly gatesMs?: number;
  /** Default: the plan's. */
  readonly workers?: number;
}

/** When a plan would be done, in milliseconds after its start. */
export interface SimulatedRun {
  readonly endMs: number;
  readonly tasks: Readonly<Record<string, { readonly startMs: number; readonly endMs: number }>>;
}
