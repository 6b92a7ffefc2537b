/**
 * The port of a coding agent: data and pure functions. The worker does the spawning.
 *
 *   A1. `parse` and `outcome` never throw, whatever the bytes.
 *   A2. The exit code alone decides nothing where the agent has a result of its own.
 *   A3. An agent's name stands in its own file, in index.ts and in tests, nowhere else.
 */

import type { Exit } from '../base/exit.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Failure } from '../model/failure.ts';
import type { Permissions } from '../model/plan.ts';

export interface Agent {
  readonly name: string;
  readonly can: {
    /** Continue an earlier session with a new prompt. */
    readonly resume: boolean;
    /** The prompt is a conversation's text; otherwise it is taken literally, with nothing added. */
    readonly prose: boolean;
  };
  command(job: Job): CommandLine;
  /** A parser holds what one attempt's stream has said so far. */
  parser(): Parser;
  /** What the end of the process means, once cancelling and time limits are ruled out. */
  outcome(end: AgentEnd): AgentOutcome;
}

/** What an agent is asked to do. */
export interface Job {
  readonly prompt: string;
  /** The program, where the user named one. */
  readonly executable: string | null;
  /** A fresh id, for agents that let the caller choose. */
  readonly newSession: string;
  readonly resume: string | null;
  readonly role: string | null;
  readonly model: string | null;
  readonly permissions: Permissions;
  /** A read task: tools that change files are refused. */
  readonly readOnly: boolean;
  readonly budgetUsd: number | null;
}

export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  readonly stdin: string;
  /** Added to the attempt's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables this agent needs from the user's environment (`X_*` for a prefix). */
  readonly inherit: readonly string[];
}

export interface Parser {
  stdout(line: string): readonly AgentEvent[];
  stderr(line: string): readonly AgentEvent[];
}

export interface AgentEnd {
  readonly exit: Exit;
  /** The last `result`, if the agent gave one. */
  readonly result: (AgentEvent & { type: 'result' }) | null;
  /** Whether any line was understood at all. */
  readonly spoke: boolean;
  /** The end of what was not understood. */
  readonly stdoutTail: string;
  readonly stderrTail: string;
}

export type AgentOutcome =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly failure: Failure };
