/**
 * Why an attempt or a task did not succeed. Programs decide on `kind` and the fields beside it;
 * `message` is sentences for people. What follows from a kind is policy: schedule/next-attempt.ts.
 */

import type { FileConflict } from './conflict.ts';
import type { TaskId } from './plan.ts';
import type { Clash } from './radar.ts';

export type Failure =
  | { readonly kind: SimpleFailureKind; readonly message: string }
  | {
      readonly kind: 'rate-limited';
      readonly message: string;
      /** When the limit resets, if the agent said so (ms since 1970). */
      readonly retryAt?: number;
      /** Only the wording of an error suggests it: the wait is then short. */
      readonly guessed?: boolean;
    }
  | { readonly kind: 'idle-timeout'; readonly message: string; readonly afterMs: number }
  | { readonly kind: 'total-timeout'; readonly message: string; readonly afterMs: number }
  | { readonly kind: 'out-of-scope'; readonly message: string; readonly files: readonly string[] }
  | {
      readonly kind: 'checks-failed';
      readonly message: string;
      /** The command. */
      readonly check: string;
      readonly exitCode?: number | null;
      readonly output: string;
    }
  /** The workspace could not be made, or set up: then `command` is what failed. */
  | {
      readonly kind: 'workspace-failed';
      readonly message: string;
      readonly command?: string;
      readonly exitCode?: number | null;
      readonly output?: string;
    }
  | {
      readonly kind: 'gate-failed';
      readonly message: string;
      readonly gate: string;
      /** What was run, and its exit code; null where it was ended before it had one. */
      readonly command?: string;
      readonly exitCode?: number | null;
      readonly output: string;
      /** What had landed since this work began: the other half of a red combination. */
      readonly landedSince: readonly TaskId[];
    }
  | {
      readonly kind: 'conflict';
      readonly message: string;
      readonly files: readonly string[];
      /** How each of them conflicts, and where; absent in journals of older versions. */
      readonly conflicts?: readonly FileConflict[];
      /** The output of a command that was to regenerate a file. */
      readonly output?: string;
      readonly landedSince: readonly TaskId[];
    }
  /** It merges, but names that one side changes are used by the other. */
  | {
      readonly kind: 'semantic';
      readonly message: string;
      readonly clashes: readonly Clash[];
      readonly landedSince: readonly TaskId[];
    }
  /** The branch holds the finished work, but the remote did not take it. */
  | {
      readonly kind: 'push-failed';
      readonly message: string;
      readonly remote: string;
      readonly branch: string;
    }
  | { readonly kind: 'dependency-failed'; readonly message: string; readonly dependency: TaskId };

export type SimpleFailureKind =
  /** The service or the network; trying again may help. */
  | 'transient'
  /** A script or program of the plan says by its exit code that it failed. */
  | 'exit-code'
  | 'auth'
  | 'billing'
  | 'budget'
  | 'turns'
  | 'schema'
  | 'permanent'
  | 'cancelled'
  /** A person gave the task up. */
  | 'skipped'
  /** The engine or the agent was ended from outside; the work is kept. */
  | 'interrupted'
  /** A person sent the finished work back with a note or a review. */
  | 'revision'
  /** The agent does not know the session that was to be resumed. */
  | 'session-lost'
  | 'no-change'
  /** It went round in circles: the same tool call again and again. */
  | 'stuck'
  /** A hook, a missing identity or a signature stopped the commit; the work is kept. */
  | 'commit-failed';

export type FailureKind = Failure['kind'];
