/**
 * Every fact that can be true of a run, and the only thing the journal stores.
 *
 * All other state is a fold over these (state.ts): the scheduler, the terminal, the browser and
 * a resumed run each replay the same entries and so cannot disagree.
 *
 * - An event is past tense and already true. A request is a Command (command.ts).
 * - An event holds ids and plain JSON values: no paths of this machine, handles, functions.
 * - Readers accept unknown fields. A changed meaning is a new type, never a reused one.
 *
 * What an agent says is not here. Chatter goes to the attempt's transcript, which may be lost
 * without losing the run.
 */

import type { Usage } from './agent-event.ts';
import type { SettledFile } from './conflict.ts';
import type { Failure } from './failure.ts';
import type { BrokenGate, GateTree } from './gate.ts';
import type { Shortage } from './machine.ts';
import type { Assignee, LimitChanges, Plan, Sha, TaskId } from './plan.ts';
import type { ClashingName } from './radar.ts';

export type Event = RunEvent | AttemptEvent | LandingEvent | TaskEvent | RadarEvent;

export type RunEvent =
  | {
      readonly type: 'run.started';
      readonly plan: Plan;
      /** SHA-256 of the plan's text: a changed plan is not resumed. */
      readonly planHash: string;
      /** Where the run's branch began; null where there is no repository (read tasks only). */
      readonly base: Sha | null;
      /** The branch to publish to, without `refs/heads/`. */
      readonly target: string | null;
      /** A person is at the terminal and can answer. */
      readonly attended?: true;
    }
  /** A new engine took over. Tasks that had failed get a new chance. */
  | ({
      readonly type: 'run.resumed';
      readonly retry: readonly TaskId[];
      /** The new head of the run's branch, if the target has moved on from it. */
      readonly head?: Sha;
      readonly attended?: true;
    } & LimitChanges)
  /** A person set these limits; the others stay what they were. */
  | ({ readonly type: 'run.limited' } & LimitChanges)
  /** The run continues with an edited plan: this one, from here on. */
  | {
      readonly type: 'run.replanned';
      /** The whole plan; tasks that have succeeded are unchanged in it. */
      readonly plan: Plan;
      readonly planHash: string;
      readonly difference: PlanDifference;
    }
  /**
   * `drain`: no new attempts; running ones may finish and land. `end`: running ones are ended, too.
   * `cancel`: as `end`, and for good. Work is kept in every case.
   */
  | { readonly type: 'run.stopping'; readonly mode: StopMode; readonly why: string }
  /** No new attempts start. `suspended`: running ones are halted. */
  | { readonly type: 'run.paused'; readonly suspended: boolean }
  /** The pause is over; halted processes proceed. */
  | { readonly type: 'run.continued' }
  /** A shortage of the machine keeps tasks from starting; a later one replaces it. */
  | { readonly type: 'run.held'; readonly of: Shortage; readonly why: string }
  /** The shortage is over, or no task waits for it. */
  | { readonly type: 'run.eased' }
  | { readonly type: 'run.finished'; readonly outcome: RunOutcome };

/** How an edited plan differs from the one before. */
export interface PlanDifference {
  readonly added: readonly TaskId[];
  readonly changed: readonly ChangedTask[];
  /** Those that were attempted stay in the run as given up. */
  readonly removed: readonly TaskId[];
  /** Changed keys of the plan other than its tasks. */
  readonly sections: readonly string[];
}

export interface ChangedTask {
  readonly task: TaskId;
  readonly keys: readonly string[];
  /** Its prompt or agent changed, so it starts over. */
  readonly fresh: boolean;
}

export type StopMode = 'drain' | 'end' | 'cancel';

export type RunOutcome =
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  /** Ended early by a signal; `landfast resume` continues it. */
  | 'interrupted';

interface OfAttempt {
  readonly task: TaskId;
  readonly attempt: number;
}

export type AttemptEvent =
  | (OfAttempt & {
      readonly type: 'attempt.started';
      /** The commit the workspace starts from; null where there is no repository. */
      readonly base: Sha | null;
      readonly start: AttemptStart;
      /** The assignee, if not the task's own agent and model. */
      readonly by?: Assignee;
      /** Its share of the run's budget; absent without a budget. */
      readonly budgetUsd?: number;
    })
  /** The workspace is set up. Recorded only if the plan has set-up commands. */
  | (OfAttempt & {
      readonly type: 'attempt.prepared';
      readonly setup: SetUp;
      readonly ms: number;
      /** Why its results are no seed, although the plan wants one. */
      readonly why?: string;
    })
  | (OfAttempt & {
      readonly type: 'attempt.session';
      readonly session: string;
      readonly model?: string;
    })
  /** Usage so far; replaces what was recorded before. */
  | (OfAttempt & Usage & { readonly type: 'attempt.usage' })
  /** A tool that would need a permission prompt was denied. */
  | (OfAttempt & Denial & { readonly type: 'attempt.denied' })
  /** The user's own checkout changed while the agent ran. */
  | (OfAttempt & { readonly type: 'attempt.strayed'; readonly files: readonly string[] })
  | (OfAttempt & {
      readonly type: 'attempt.finished';
      /** The work; null for a read task, and if nothing changed. */
      readonly commit: Sha | null;
      readonly files: readonly string[];
      /** Changed files outside the scope that are only reported; a read task's changes. */
      readonly outside: readonly string[];
      /** A tool was denied, and every changed file is empty. */
      readonly empty?: true;
      readonly exitCode: number | null;
      /** The agent's last words. */
      readonly text: string;
      /** The answer in the form of the task's schema, if it has one. */
      readonly structured?: unknown;
      readonly status?: SelfReport;
    })
  | (OfAttempt & {
      readonly type: 'attempt.failed';
      readonly failure: Failure;
      readonly exitCode: number | null;
      readonly status?: SelfReport;
      /** Tip of the task's branch at its end; later commits are a person's. */
      readonly tip?: Sha;
    });

/** A denied tool call. */
export interface Denial {
  readonly tool: string;
  /** Its command, file or address. */
  readonly what?: string;
  /** The line of a plan or configuration that would allow it, if there is one. */
  readonly allow?: string;
}

/**
 * How an attempt begins.
 *   fresh     a new workspace at the base, or the old one reset to it (a ref keeps what was there)
 *   continue  the workspace as the attempt before left it, the same session where the agent can
 *   rework    the finished work merged with the head it did not land on, conflicts laid out
 */
export type AttemptStart =
  /** `fork`: the session whose history it begins with. */
  | { readonly kind: 'fresh'; readonly fork?: string }
  | { readonly kind: 'continue'; readonly session: string | null }
  | { readonly kind: 'rework'; readonly session: string | null; readonly commit: Sha };

/**
 * How the results of set-up came to be there.
 *   ran     its commands did it
 *   kept    an earlier task had left them in the workspace
 *   seeded  they were copied from a seed
 */
export type SetUp = 'ran' | 'kept' | 'seeded';

/** The status that an agent reports in its last words, if the task asks for one. */
export interface SelfReport {
  /** In the agent's own word; `COMPLETED` or `FAILED` if it only said yes or no. */
  readonly status: string;
  readonly cycles?: number;
  /** Why it is not done: what blocks it, what it misses, what went wrong. */
  readonly reason?: string;
  /** A file it has written. */
  readonly report?: string;
  readonly summary?: string;
  /** What needs a look although it is done. */
  readonly concerns?: string;
  readonly validated?: boolean;
  readonly created?: readonly string[];
  readonly modified?: readonly string[];
  readonly tests?: { readonly run?: number; readonly passed?: number; readonly failed?: number };
  readonly log?: string;
}

export type LandingEvent =
  /** Files that did not merge cleanly and were resolved without an agent. */
  | {
      readonly type: 'merge.settled';
      readonly task: TaskId;
      readonly files: readonly SettledFile[];
    }
  /** The work is in the queue: its candidate is being built, on the head or the last candidate. */
  | (OfAttempt & {
      readonly type: 'merge.started';
      readonly commit: Sha;
      readonly onto: Sha;
      /** It passes these: it is built on the head itself, beside the queue. */
      readonly passes?: readonly TaskId[];
      /** Why independent work takes its turn all the same. */
      readonly stays?: string;
    })
  | {
      readonly type: 'candidate.built';
      readonly task: TaskId;
      readonly commit: Sha;
      readonly tree: Sha;
      /** No gate applies: it is green at once. */
      readonly spared?: true;
    }
  | { readonly type: 'candidate.verifying'; readonly task: TaskId; readonly commit: Sha }
  /** The verdict on a candidate that has left the queue is no longer needed. */
  | { readonly type: 'candidate.dropped'; readonly task: TaskId; readonly commit: Sha }
  /** All gates have passed on its exact tree, or one has failed. */
  | {
      readonly type: 'candidate.verified';
      readonly task: TaskId;
      readonly commit: Sha;
      readonly failure: Failure | null;
    }
  /**
   * The work leaves the queue without blame and queues again later: what it was built on is gone,
   * it conflicts with work ahead that has not landed (`ahead`), or the run is stopping.
   */
  | {
      readonly type: 'merge.withdrawn';
      readonly task: TaskId;
      readonly ahead: TaskId | null;
      readonly why: string;
      /** Its running gates continue: their verdict may hold for the next candidate. */
      readonly lingers?: true;
    }
  /** The head is being moved to this task's candidate, with all before it. */
  | { readonly type: 'merge.landing'; readonly task: TaskId; readonly commit: Sha }
  /** A gate runs on a candidate's exact tree; `gate.finished` says how it ended. */
  | {
      readonly type: 'gate.started';
      readonly task: TaskId | null;
      readonly gate: string;
      readonly tree: Sha;
      readonly on?: GateTree;
    }
  /** A gate ran on a candidate's exact tree. `task` is null when the candidate is a publication. */
  | {
      readonly type: 'gate.finished';
      readonly task: TaskId | null;
      readonly gate: string;
      readonly tree: Sha;
      readonly ok: boolean;
      readonly ms: number;
      /** An excerpt of its output; empty unless it is red. */
      readonly output: string;
      /** Command and exit code of a red gate; null if it was ended before it exited. */
      readonly command?: string;
      readonly exitCode?: number | null;
      /**
       * Why it did not have to run: the same tree was green before (`memory`, in the run `by`), or
       * the candidate touches none of its `paths`.
       */
      readonly spared?: 'memory' | 'paths';
      readonly by?: string;
      /** Red, but quarantined: it does not count. */
      readonly quarantined?: true;
      readonly on?: GateTree;
    }
  /** The gate is at fault, not the work, which leaves the queue and waits: nothing lands. */
  | ({ readonly type: 'gate.broken'; readonly task: TaskId } & BrokenGate)
  | {
      readonly type: 'merge.landed';
      readonly task: TaskId;
      readonly onto: Sha;
      /** The run's new head. */
      readonly commit: Sha;
    }
  | {
      readonly type: 'merge.rejected';
      readonly task: TaskId;
      readonly onto: Sha;
      readonly failure: Failure;
    }
  /** Existing work that the plan names is taken as finished and waits to land. */
  | { readonly type: 'work.adopted'; readonly task: TaskId; readonly commit: Sha }
  /** A person has committed to the task's branch: that is its work from now on. */
  | ({ readonly type: 'work.mended' } & MendedWork)
  /** The attempt starts over; this ref keeps what was in its workspace. */
  | (OfAttempt & { readonly type: 'work.kept'; readonly ref: string; readonly commit: Sha })
  /** The work is on its own branch, which stays unmerged. */
  | {
      readonly type: 'work.delivered';
      readonly task: TaskId;
      readonly commit: Sha;
      /** Without `refs/heads/`. */
      readonly branch: string;
      /** The remote it was pushed to. */
      readonly pushed: string | null;
    }
  /** The task's landed work is in the target, as these commits. */
  | ({ readonly type: 'work.proved'; readonly task: TaskId } & ProvedWork)
  /** `early`: other tasks are still open. */
  | { readonly type: 'publish.started'; readonly head: Sha; readonly early?: true }
  | {
      readonly type: 'publish.finished';
      readonly target: string;
      readonly commit: Sha;
      /** Whether a checkout of the target followed, or there was none. */
      readonly checkout: 'followed' | 'none';
      readonly proved?: Proof;
    }
  | { readonly type: 'publish.blocked'; readonly why: string; readonly remedy: string }
  /** Everything has landed, and the plan wants a person to approve its publication. */
  | { readonly type: 'publish.awaited'; readonly head: Sha }
  | { readonly type: 'publish.approved'; readonly head: Sha }
  /** It stays on the run's branch. */
  | { readonly type: 'publish.declined'; readonly head: Sha };

/** A person's version of a task's work, and the files that it changes. */
export interface MendedWork {
  readonly task: TaskId;
  readonly commit: Sha;
  readonly files: readonly string[];
}

/** What was proved before the target moved: it contains each piece of work. */
export interface Proof {
  readonly works: number;
  /** Every commit is in its history; or, for rewritten work, the landing has the same files. */
  readonly by: 'history' | 'files';
}

/** How one piece of work was proved to be in the target. */
export interface ProvedWork {
  /** It is in the history with every commit; or the commits that it became give its files. */
  readonly by: 'history' | 'files';
  /** Its commits in the target, oldest first; none if all of them were there before. */
  readonly commits: readonly Sha[];
  /** How many more there are. */
  readonly more?: number;
}

export type TaskEvent =
  /** Final: no attempt is left, or a task it needs has failed. */
  | { readonly type: 'task.failed'; readonly task: TaskId; readonly failure: Failure }
  /** A person asked for it. A running attempt is ended; its work is kept. */
  | { readonly type: 'task.cancelled'; readonly task: TaskId }
  /** A person gave it another chance, now and with all of its retries. */
  | {
      readonly type: 'task.retried';
      readonly task: TaskId;
      readonly fresh: boolean;
      /** A person's message to its agent. */
      readonly note?: string;
    }
  /** Its next attempt does not start; a running one is halted, and its time with it. */
  | { readonly type: 'task.paused'; readonly task: TaskId }
  | { readonly type: 'task.continued'; readonly task: TaskId }
  /** A review of its work: another attempt in its session answers these comments. */
  | {
      readonly type: 'task.commented';
      readonly task: TaskId;
      readonly comments: readonly ReviewComment[];
    }
  /**
   * A person gave it up. A running attempt is ended; its work is kept. `satisfied`: tasks that need
   * it may start as if it had succeeded.
   */
  | { readonly type: 'task.skipped'; readonly task: TaskId; readonly satisfied: boolean }
  /** Nothing uses the workspace any more; it may go if all of its work is safe. */
  | { readonly type: 'workspace.released'; readonly task: TaskId }
  /** `saved`: files of a failed task that are in the user's checkout now. */
  | {
      readonly type: 'workspace.removed';
      readonly task: TaskId;
      readonly saved?: readonly string[];
    }
  | {
      readonly type: 'workspace.kept';
      readonly task: TaskId;
      readonly why: string;
      readonly saved?: readonly string[];
    };

/** A remark on a task's work, about a line, a range of lines, a file, or all of it. */
export interface ReviewComment {
  /** Relative to the repository's root; null for a remark on the whole work. */
  readonly path: string | null;
  /** From 1, as in the task's work. */
  readonly line?: number;
  readonly endLine?: number;
  readonly text: string;
  readonly author?: string;
}

/** Observations while agents work. Each replaces an earlier one about the same two tasks. */
export type RadarEvent =
  /** Two tasks' present work does not merge. `b` is null for what is about to land. */
  | {
      readonly type: 'radar.conflict';
      readonly a: TaskId;
      readonly b: TaskId | null;
      readonly files: readonly string[];
    }
  /** Now it does. */
  | { readonly type: 'radar.cleared'; readonly a: TaskId; readonly b: TaskId | null }
  /** `a` removes or changes these names and `b` has begun to use them; empty once that is over. */
  | {
      readonly type: 'radar.semantic';
      readonly a: TaskId;
      readonly b: TaskId;
      readonly names: readonly ClashingName[];
    }
  /** Files outside its scope that an attempt has changed so far; empty once undone. */
  | (OfAttempt & { readonly type: 'scope.strayed'; readonly files: readonly string[] });

/** An event with its place in the run. Only the journal makes entries. */
export interface Entry {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly event: Event;
}
