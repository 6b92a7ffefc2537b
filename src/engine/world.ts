/**
 * The engine's two doors: the journal it writes and the world it acts on. The simulator has its own
 * of each; fold, decide and loop are the same code in both.
 */

import type { Answer, Command } from '../model/command.ts';
import type { Effect } from '../model/effect.ts';
import type { Entry, Event } from '../model/event.ts';
import type { Machine } from '../model/machine.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import type { AgentsKnown } from '../schedule/next-attempt.ts';

/** Where facts become entries. Throws when this engine may not write any more. */
export interface Log {
  /** The event as it will be stored: without secrets. */
  masked(event: Event): Event;
  append(events: readonly Event[], at: number): readonly Entry[];
}

/** A command, and how to answer its sender. */
export interface ReceivedCommand {
  readonly command: Command;
  answer(answer: Answer): void;
}

export interface World {
  readonly agents: AgentsKnown;
  now(): number;
  /** The machine as it was last measured; costs nothing. */
  machine(): Machine;
  /** Ends when the signal is aborted, after `ms`, or earlier for no reason; never throws. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Commands that came in since the last call. */
  commands(): readonly ReceivedCommand[];
  /**
   * Does one effect and reports facts as they become true. When the signal is aborted, with the
   * reason as failure kind, it ends what it started and reports that.
   */
  perform(effect: Effect, report: (fact: Event) => void, signal: AbortSignal): Promise<void>;
  /**
   * Watches live work until the signal is aborted, and reports what it sees. It decides nothing:
   * without it only forecasts are missing.
   */
  observe(look: () => RunState, report: (fact: Event) => void, signal: AbortSignal): Promise<void>;
  /** Halts the attempts of these tasks and lets the others proceed; idempotent. */
  suspend(isHalted: (task: TaskId) => boolean): void;
  /** Told of every entry, after it is durable. */
  recorded(entries: readonly Entry[]): void;
}

/** Why an effect is asked to stop; it becomes the kind of the failure. */
export type StopReason = 'cancelled' | 'interrupted';
