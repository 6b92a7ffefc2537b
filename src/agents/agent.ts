/**
 * The port of a coding agent: data and pure functions. The worker does the spawning.
 *
 *   A1. `parse` and `outcome` never throw, whatever the bytes.
 *   A2. The exit code alone decides nothing where the agent has a result of its own.
 *   A3. An agent's name is in its own file, in index.ts and in tests, nowhere else.
 *   A4. `can` says what an agent is able to do; a job that asks for more is refused before it starts.
 */

import type { Exit } from '../base/exit.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Failure } from '../model/failure.ts';
import type { AgentOptions, Permissions } from '../model/plan.ts';
import type { ToolCall } from './denial.ts';
import type { LogFormatter } from './log-formatter.ts';

export interface Agent {
  readonly name: string;
  readonly can: Abilities;
  readonly program: ProgramFacts;
  command(job: Job): CommandLine;
  /** A parser holds the state of one attempt's stream. */
  parser(job: Job): Parser;
  /** The line of a plan that would allow a refused tool; null where there is none. */
  allow?(job: Job, call: ToolCall): string | null;
  /** Formats its output for people; absent where the meaning of its events suffices. */
  formatter?(): LogFormatter;
  /** What the end of the process means, once cancelling and time limits are ruled out. */
  outcome(end: AgentEnd): AgentOutcome;
}

/** A plan that asks for more is refused with the agent's name and the key. */
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

/** For a driver to extend with what its agent can do. */
export const NO_ABILITIES: Abilities = {
  resume: false,
  fork: false,
  prose: false,
  role: false,
  model: false,
  permissions: [],
  toolRules: false,
  commands: false,
  dirs: false,
  mcp: false,
  maxTurns: false,
  budget: false,
  schema: false,
  anyCommand: false,
};

export interface ProgramFacts {
  /** Null where the plan names it. */
  readonly file: string | null;
  readonly versionArgs: readonly string[];
  readonly install: string;
  /** Folders it writes outside of a workspace: `~/…`, or `$NAME` for one that a variable names. */
  readonly keeps?: readonly string[];
  /** A call that says without a model whether the user is logged in; null where there is none. */
  readonly login: LoginProbe | null;
  /** Where it keeps its sessions; null where it has none, or where the plan names the program. */
  readonly sessions: SessionStore | null;
}

export interface LoginProbe {
  readonly args: readonly string[];
  judge(answer: {
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }): 'in' | 'out' | 'unknown';
}

/**
 * Where an agent keeps its sessions, and how one is found there. `places` are tried in order: `$NAME/…`
 * counts where that variable is set, `~/…` always. A store is only ever read.
 */
export type SessionStore =
  /** One file each, below a folder; `isFileOf` is given its path from there. */
  | {
      readonly kind: 'files';
      readonly places: readonly string[];
      isFileOf(session: string, path: string): boolean;
    }
  /** Rows of an SQLite database; `query` selects the row of the id that is its parameter. */
  | { readonly kind: 'sqlite'; readonly places: readonly string[]; readonly query: string };

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
  /** Where it starts: some protocols need it. */
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
