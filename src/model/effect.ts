/**
 * What the engine asks the world to do, always after recording that it will. An effect is
 * idempotent by its key: done twice, or found done, it reports the same facts. It answers with
 * events only; a bug is thrown.
 */

import type { AgentEvent } from './agent-event.ts';
import type { AttemptStart, Event } from './event.ts';
import type { Failure } from './failure.ts';
import type { Assignee, Sha, TaskId } from './plan.ts';
import type { Foreseen } from './radar.ts';
import type { Instruction, Landing } from './state.ts';
import type { Credit } from './trailers.ts';

export type Effect =
  | AttemptEffect
  | MergeEffect
  | VerifyEffect
  | LandEffect
  | ReleaseEffect
  | PublishEffect;

/** Prepare the workspace, run the agent, judge, commit. */
export interface AttemptEffect {
  readonly kind: 'attempt';
  readonly task: TaskId;
  readonly attempt: number;
  readonly base: Sha | null;
  readonly start: AttemptStart;
  /** The assignee, if not the task's own agent and model. */
  readonly by?: Assignee;
  /** Other assignees that have tried it, and how each ended; absent if there are none. */
  readonly tried?: readonly Tried[];
  /** Why the previous attempt, or its landing, failed: the agent is told. */
  readonly before: Failure | null;
  /** The last words of tasks that it needs and wants to hear. */
  readonly heard: readonly Heard[];
  /** Work that landed meanwhile and that the finished work does not fit, in order of landing. */
  readonly meanwhile: readonly Meanwhile[];
  /** Instructions to its agent that no attempt has answered. */
  readonly instructions?: readonly Instruction[];
  /** What the radar has seen of its work: the agent is told. Absent if nothing. */
  readonly foreseen?: Foreseen;
  /** What this attempt may spend; null without a budget. */
  readonly budgetUsd: number | null;
}

/** How another agent's attempts at a task ended. */
export interface Tried {
  readonly by: Assignee;
  readonly times: number;
  readonly failure: Failure;
}

/** What one task reported when it was done. */
export interface Heard {
  readonly task: TaskId;
  readonly text: string;
}

/** Work that landed while another task ran: its purpose and its result. */
export interface Meanwhile {
  readonly task: TaskId;
  readonly title: string;
  readonly prompt: string;
  /** Its agent's last words. */
  readonly said: string;
  readonly files: readonly string[];
}

/** Build the candidate; if nothing has to be verified, land it in the same step. */
export interface MergeEffect {
  readonly kind: 'merge';
  readonly task: TaskId;
  readonly commit: Sha;
  readonly onto: Sha;
  /** Where the work began; the head has grown from there. */
  readonly base: Sha | null;
  /** The task whose candidate `onto` is; null if it is the head. */
  readonly ahead: TaskId | null;
  readonly lands: boolean;
  /** It passes the queue: if no gate applies it is green at once. */
  readonly beside?: true;
  /** Tasks that landed after this work's base: named when the combination is red. */
  readonly landedSince: readonly TaskId[];
  /** Landed work whose names were seen to clash with its own: checked before it is merged. */
  readonly suspects?: readonly Landing[];
  /** If gates run in the same step: those that have not been green yet. */
  readonly unproven?: readonly string[];
  /** Whether the work may hold a resolved merge. */
  readonly teaches: boolean;
  /** Who made the work, and for how much. */
  readonly credit: Credit;
}

/** Run the gates on a candidate's exact tree. */
export interface VerifyEffect {
  readonly kind: 'verify';
  readonly task: TaskId;
  readonly commit: Sha;
  readonly tree: Sha;
  /** The head: what differs from it is what the gates' `paths` are compared with. */
  readonly since: Sha;
  /** It was red once: only this run counts. */
  readonly again: boolean;
  /**
   * The work, if this gate is to be run on it first, without what landed meanwhile: red there, it
   * is to blame by itself.
   */
  readonly alone?: { readonly commit: Sha; readonly gate: string };
  /** Gates that have not been green yet: if red, they run on the base as well. */
  readonly unproven: readonly string[];
  readonly landedSince: readonly TaskId[];
}

/** Move the head to a green candidate, by compare-and-swap. */
export interface LandEffect {
  readonly kind: 'land';
  readonly onto: Sha;
  /** The candidates that land with it, in order; the last one is where the head goes. */
  readonly candidates: readonly { readonly task: TaskId; readonly commit: Sha }[];
  /** Their work, where it may hold a resolved merge. */
  readonly teachers: readonly Sha[];
}

/** Remove the workspace if all of its work is safe, else keep it and say why. */
export interface ReleaseEffect {
  readonly kind: 'release';
  readonly task: TaskId;
  readonly succeeded: boolean;
  /** Commits that the run's branch is known to hold: no need to ask git. */
  readonly safe: readonly Sha[];
  /** Why it is kept, whatever is safe. */
  readonly keep?: string;
}

/** Bring what landed to the target branch. */
export interface PublishEffect {
  readonly kind: 'publish';
  /** Where the run began. */
  readonly base: Sha;
  readonly head: Sha;
  readonly target: string;
  /** All that must be in the target afterwards. */
  readonly landed: readonly LandedWork[];
  /** Tasks without a `work.proved` yet. */
  readonly untold: readonly TaskId[];
}

/** Work, the head it landed on, and the result, which is that head if it held the work already. */
export interface LandedWork extends Omit<Landing, 'at'> {
  readonly work: Sha;
}

/** One effect of a key runs at a time. */
export function keyOf(effect: Effect): string {
  if (effect.kind === 'publish' || effect.kind === 'land') return effect.kind;
  // A candidate that is built again is another one, even while the old one is being given up.
  if (effect.kind === 'verify') return `verify:${effect.task}:${effect.commit}`;
  return `${effect.kind}:${effect.task}`;
}

/** Whether this fact is an effect's last about a task or a publication. */
export function isLastWord({ type }: Event): boolean {
  return LAST_WORDS.has(type);
}

const LAST_WORDS: ReadonlySet<Event['type']> = new Set([
  'attempt.finished',
  'attempt.failed',
  'candidate.built',
  'candidate.verified',
  'gate.broken',
  'merge.landed',
  'merge.rejected',
  'merge.withdrawn',
  'work.delivered',
  'workspace.removed',
  'workspace.kept',
  'publish.finished',
  'publish.blocked',
]);

/** What an effect reports while it runs: facts for the journal, chatter for the transcript. */
export type Message =
  | { readonly kind: 'fact'; readonly event: Event }
  | {
      readonly kind: 'chatter';
      readonly task: TaskId;
      readonly attempt: number;
      readonly line: Chatter;
    };

/** What a transcript and its logs record of a running attempt. */
export type Chatter = Said | Around;

/** One thing an attempt said: a raw line of its process, or what that line meant. */
export type Said =
  | { readonly from: 'stdout' | 'stderr'; readonly text: string }
  | { readonly from: 'agent'; readonly event: AgentEvent };

/** The agent's prompt, and what set-up and the task's checks printed. */
export interface Around {
  readonly from: AroundName;
  readonly text: string;
}

export type AroundName = 'prompt' | 'setup' | 'checks';

export type Emit = (message: Message) => void;
