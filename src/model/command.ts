/** Requests of a user interface. The engine turns them into events, or refuses with a reason. */

import type { MendedWork, ReviewComment, StopMode } from './event.ts';
import type { LimitChanges, TaskId } from './plan.ts';

export type Command =
  /** Ends one task; its work is kept. */
  | { readonly kind: 'cancel-task'; readonly task: TaskId }
  /** No new attempts; with `suspend` running ones are halted where they are. */
  | { readonly kind: 'pause'; readonly suspend: boolean }
  /** Ends the run's pause; halted processes proceed. */
  | { readonly kind: 'continue' }
  /** Halts the attempts of these tasks, or keeps them from starting. */
  | { readonly kind: 'pause-tasks' | 'continue-tasks'; readonly tasks: readonly TaskId[] }
  /** Sets limits of the run. */
  | { readonly kind: 'limit'; readonly limits: LimitChanges }
  /** A new chance for failed tasks and those that failed because of them; no more waiting. */
  | {
      readonly kind: 'retry';
      readonly tasks: readonly TaskId[];
      readonly fresh: boolean;
      /** What the agents of these tasks are told. */
      readonly note?: string;
      /** What people have committed to branches of tasks. */
      readonly mended?: readonly MendedWork[];
    }
  /** Another attempt in the task's session, to answer a review of its work. */
  | { readonly kind: 'comment'; readonly task: TaskId; readonly comments: readonly ReviewComment[] }
  /** Gives tasks up. `satisfied`: their dependents may start as if they had succeeded. */
  | { readonly kind: 'skip'; readonly tasks: readonly TaskId[]; readonly satisfied: boolean }
  /** Publishes what has landed, or leaves it on the run's branch. */
  | { readonly kind: 'approve'; readonly publish: boolean }
  /** Ends the run, more or less at once: what a signal or `landfast cancel` asks for. */
  | { readonly kind: 'stop'; readonly mode: StopMode; readonly why: string };

/** Commands that take up a run without an engine. */
export type ReopeningCommand = Command & { readonly kind: 'retry' | 'comment' | 'approve' };

/** The engine's answer to a command. */
export type Answer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly why: string };
