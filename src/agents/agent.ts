/**
 * The port of a coding agent: data and pure functions. The worker does the spawning.
 *
 *   A1. `parse` and `outcome` never throw, whatever the bytes.
 *   A2. The exit code alone decides nothing where the agent has a result of its own.
 *   A3. An agent's name stands in its own file, in index.ts and in tests, nowhere else.
 *   A4. What a job asks for and an agent cannot do is said by `can`, before anything starts.
 */

import type { Exit } from '../base/exit.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Failure } from '../model/failure.ts';
import type { AgentOptions, Permissions } from '../model/plan.ts';
import type { Teller } from './story.ts';

export interface Agent {
  readonly name: string;
  readonly can: Abilities;
  readonly program: ProgramFacts;
  command(job: Job): CommandLine;
  /** A parser holds what one attempt's stream has said so far. */
  parser(job: Job): Parser;
  /** Tells an attempt to people; absent where that can be done by what its output means. */
  teller?(): Teller;
  /** What the end of the process means, once cancelling and time limits are ruled out. */
  outcome(end: AgentEnd): AgentOutcome;
}

/** What an agent can do. A plan that asks for more is refused with the agent's name and the key. */
export interface Abilities {
  /** Continue an earlier session with a new prompt. */
  readonly resume: boolean;
  /** Begin a new session with the history of another. */
  readonly fork: boolean;
  /** The prompt is a conversation's text; otherwise it is taken literally, with nothing added. */
  readonly prose: boolean;
  /** It has no stream of its own: what it prints is what it says. */
  readonly plain?: boolean;
  readonly role: boolean;
  readonly model: boolean;
  /** The permission modes it knows how to render. */
  readonly permissions: readonly Permissions[];
  /** Rules for single tools (`tools.allowed_tools`, `tools.disallowed_tools`). */
  readonly toolRules: boolean;
  /** Programs that may be run without asking (`tools.allowed_cli`). */
  readonly commands: boolean;
  readonly dirs: boolean;
  readonly mcp: boolean;
  readonly maxTurns: boolean;
  readonly budget: boolean;
  readonly schema: boolean;
  /** It is any program: the plan must give its argument vector. */
  readonly anyCommand: boolean;
}

/** How to find the program, and what to do where it is missing. */
export interface ProgramFacts {
  /** Null where the plan names it. */
  readonly file: string | null;
  readonly versionArgs: readonly string[];
  /** One line that says how to get it. */
  readonly install: string;
  /** What it keeps outside of a workspace: `~/…`, or `$NAME` for a folder that a variable names. */
  readonly keeps?: readonly string[];
  /** A call that tells without a model whether somebody is logged in, where there is one. */
  readonly login: LoginProbe | null;
}

export interface LoginProbe {
  readonly args: readonly string[];
  judge(answer: {
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }): 'in' | 'out' | 'unknown';
}

/** What an agent is asked to do. */
export interface Job {
  readonly prompt: string;
  /** The program, where the user named one. */
  readonly executable: string | null;
  /** A fresh id, for agents that let the caller choose. */
  readonly newSession: string;
  readonly resume: string | null;
  /** With `resume`: leave that session as it is and go on in a new one. */
  readonly fork: boolean;
  readonly role: string | null;
  readonly model: string | null;
  readonly permissions: Permissions;
  /** A read task: tools that change files are refused. */
  readonly readOnly: boolean;
  /** The smaller of the task's own limit and its share of the run's. */
  readonly budgetUsd: number | null;
  readonly options: AgentOptions;
  /** Where it starts: some protocols must be told. */
  readonly cwd: string;
}

export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  readonly stdin: string;
  /** Added to the attempt's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables this agent needs from the user's environment (`X_*` for a prefix). */
  readonly inherit: readonly string[];
  /**
   * Files to write into the attempt's own temp folder first, by name. `{temp}` in `args` and in the
   * values of `env` stands for that folder.
   */
  readonly files?: Readonly<Record<string, string>>;
  /** Standard input stays open for the parser's replies, until it says that it is over. */
  readonly dialogue?: boolean;
}

export interface Parser {
  stdout(line: string): readonly AgentEvent[];
  stderr(line: string): readonly AgentEvent[];
  /** In a dialogue: what to write to standard input now, line by line. */
  replies?(): readonly string[];
  /** In a dialogue: nothing more will be asked; standard input may be closed. */
  isOver?(): boolean;
}

export interface AgentEnd {
  readonly exit: Exit;
  readonly job: Job;
  /** The last `result`, if the agent gave one. */
  readonly result: (AgentEvent & { type: 'result' }) | null;
  /** Whether any line was understood at all. */
  readonly spoke: boolean;
  /** The end of what was not understood. */
  readonly stdoutTail: string;
  readonly stderrTail: string;
}

export type AgentOutcome =
  | { readonly ok: true; readonly text: string; readonly structured?: unknown }
  | { readonly ok: false; readonly failure: Failure };
