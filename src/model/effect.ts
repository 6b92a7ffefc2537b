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
  /** Who does it, where that is not the task's own agent and model. */
  readonly by?: Assignee;
  /** Who has tried it before, each with how that ended; absent where no other agent has. */
  readonly tried?: readonly Tried[];
  /** Why the attempt before, or its landing, failed: the agent is told. */
  readonly before: Failure | null;
  /** The last words of tasks it needs, where it wants to hear them. */
  readonly heard: readonly Heard[];
  /** What landed meanwhile that the finished work does not fit to, in the order of landing. */
  readonly meanwhile: readonly Meanwhile[];
  /** What people told its agent that no attempt has finished with. */
  readonly instructions?: readonly Instruction[];
  /** What the radar has seen of its work: the agent is told. Absent where that is nothing. */
  readonly foreseen?: Foreseen;
  /** What this attempt may spend, where the run has a budget. */
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

/** Work that landed while another was being done: what it was for, and what became of it. */
export interface Meanwhile {
  readonly task: TaskId;
  readonly title: string;
  readonly prompt: string;
  /** Its agent's last words. */
  readonly said: string;
  readonly files: readonly string[];
}

/** Build the candidate; where nothing is to be verified, land it in the same step. */
export interface MergeEffect {
  readonly kind: 'merge';
  readonly task: TaskId;
  readonly commit: Sha;
  readonly onto: Sha;
  /** Where the work began; the head has grown from there. */
  readonly base: Sha | null;
  /** Whose candidate `onto` is; null where it is the head. */
  readonly ahead: TaskId | null;
  readonly lands: boolean;
  /** It passes the queue: where no gate is due it is green at once. */
  readonly beside?: true;
  /** Tasks that landed after this work's base: named when the combination is red. */
  readonly landedSince: readonly TaskId[];
  /** Landed work with which its names were seen to clash: looked at before it is merged. */
  readonly suspects?: readonly Landing[];
  /** Where gates run in the same step: those that were green on nothing so far. */
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
  /** It was red once: only what is run now counts. */
  readonly again: boolean;
  /**
   * The work, if this gate is to be run on it first, without what landed meanwhile: red there, it
   * is to blame by itself.
   */
  readonly alone?: { readonly commit: Sha; readonly gate: string };
  /** Gates that were green on nothing so far: red, they are run on the base as well. */
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
  /** Why it stays, whatever is safe. */
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
  /** Tasks of which that has not been told yet (`work.proved`). */
  readonly untold: readonly TaskId[];
}

/** Work, the head that it was brought to, and what that gave: that head where it was there. */
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

/** Whether an effect says nothing more about a task, or a publication, after this fact. */
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

/** What an effect says while it runs: facts for the journal, chatter for the transcript. */
export type Message =
  | { readonly kind: 'fact'; readonly event: Event }
  | {
      readonly kind: 'chatter';
      readonly task: TaskId;
      readonly attempt: number;
      readonly line: Chatter;
    };

/** What is written down of an attempt while it goes on. */
export type Chatter = Said | Around;

/** One thing an attempt said: a raw line of its process, or what that line meant. */
export type Said =
  | { readonly from: 'stdout' | 'stderr'; readonly text: string }
  | { readonly from: 'agent'; readonly event: AgentEvent };

/** What its agent was told, and what was printed before and after it: set-up, the task's checks. */
export interface Around {
  readonly from: AroundName;
  readonly text: string;
}

export type AroundName = 'prompt' | 'setup' | 'checks';

export type Emit = (message: Message) => void;
