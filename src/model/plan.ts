/**
 * The Plan: what to do, in what order, under which limits. Every input format becomes this.
 *
 *   M1. A Plan is plain JSON: it is stored whole in the run's first journal entry.
 *   M2. Nothing here says which format it came from. Where formats differ in what users see, the
 *       difference is a value (see Conventions), never a format's name.
 *   M3. Paths are relative to the repository's root and use `/`.
 */

export type TaskId = string;
export type Sha = string;

export interface Plan {
  readonly name: string;
  /** The branch to publish to; absent means the branch that is checked out when the run starts. */
  readonly target?: string;
  readonly tasks: readonly TaskSpec[];
  readonly gates: readonly GateSpec[];
  readonly workspace: WorkspaceSpec;
  readonly landing: LandingSpec;
  readonly limits: LimitsSpec;
  readonly sandbox: SandboxSpec;
  readonly conventions: Conventions;
}

export interface TaskSpec {
  readonly id: TaskId;
  /** What the agent is asked to do; for the shell agent a script. */
  readonly prompt: string;
  readonly agent: string;
  /** The agent's own sub-agent or persona. */
  readonly role?: string;
  readonly model?: string;
  /** A read task's changes are thrown away and reported; it lands nothing. */
  readonly mode: 'write' | 'read';
  readonly needs: readonly TaskId[];
  /** Begins with what the session of this task, which it needs, has learned. */
  readonly forks?: TaskId;
  /** Path globs this task may change; none means it did not say. */
  readonly writes: readonly string[];
  /** Whether a change outside `writes` fails the task, or is only reported. */
  readonly outside: 'fail' | 'report';
  readonly forbids: readonly string[];
  /** Shell commands that must pass in the task's own workspace before its work is committed. */
  readonly checks: readonly string[];
  readonly group?: string;
  /** How many attempts may follow a failed one. */
  readonly retries: number;
  readonly timeoutMs: number;
  readonly idleMs: number;
  readonly permissions: Permissions;
  /** Whether a write task may succeed without changing anything. */
  readonly allowEmpty: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Where the agent starts, relative to the repository's root. */
  readonly cwd?: string;
  readonly options: AgentOptions;
  /** The agent's last line may be `{"status": "FAILED", "reason": …}`, which then fails the attempt. */
  readonly statusLine: boolean;
}

/**
 * What a task asks of its agent beyond the work itself. An agent that cannot do one of them refuses
 * the plan: nothing is silently left out.
 */
export interface AgentOptions {
  readonly tools: ToolRules;
  /** Further folders the agent may use, absolute or relative to the repository's root. */
  readonly dirs: readonly string[];
  readonly mcp: Readonly<Record<string, McpServer>>;
  readonly maxTurns: number | null;
  readonly budgetUsd: number | null;
  /** A JSON Schema that the agent's answer must fit. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** Variables of the user's environment that reach the agent. */
  readonly passEnv: readonly string[];
  /** The argument vector of an agent that can be any program. */
  readonly command: readonly string[];
  readonly promptAs: 'stdin' | 'argument';
}

export interface ToolRules {
  /** In the agent's own rule language. */
  readonly allowed: readonly string[];
  readonly disallowed: readonly string[];
  /** Programs that may be run without asking, by name. */
  readonly commands: readonly string[];
}

export type McpServer =
  | { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string };

export const NO_OPTIONS: AgentOptions = {
  tools: { allowed: [], disallowed: [], commands: [] },
  dirs: [],
  mcp: {},
  maxTurns: null,
  budgetUsd: null,
  schema: null,
  passEnv: [],
  command: [],
  promptAs: 'stdin',
};

/** A fence around attempts: they write only to their workspace, their temp folder and caches. */
export interface SandboxSpec {
  /** `on` where the machine can, `require` refuses to start where it cannot. */
  readonly mode: 'off' | 'on' | 'require';
  /** All of the network, none of it, or only these hosts. */
  readonly network: 'on' | 'off' | readonly string[];
  /** Folders outside of the workspace that may be written, such as package caches. */
  readonly caches: readonly string[];
}

export const NO_SANDBOX: SandboxSpec = { mode: 'off', network: 'on', caches: [] };

export type Permissions =
  | 'default'
  | 'acceptEdits'
  | 'plan'
  | 'dontAsk'
  | 'auto'
  | 'bypassPermissions';

export interface GateSpec {
  readonly name: string;
  /** A shell command; exit 0 is green. */
  readonly run: string;
  readonly timeoutMs: number;
}

export interface WorkspaceSpec {
  /** Shell commands run once in a new workspace. */
  readonly setup: readonly string[];
  /** In a gate workspace `setup` runs again only when one of these files has changed. */
  readonly setupKey: readonly string[];
  /** Untracked files brought along from the user's checkout; never committed. */
  readonly copy: readonly string[];
}

export interface LandingSpec {
  readonly strategy: 'merge' | 'squash';
  readonly verify: 'each' | 'off';
  readonly onConflict: 'agent' | 'fail';
  readonly onGateFailure: 'agent' | 'fail';
  /** How often work may go back to its agent because it did not land. */
  readonly reworks: number;
  /** Whether the target branch is moved when the run ends. */
  readonly publish: 'end' | 'off';
}

export interface LimitsSpec {
  readonly workers: number;
  /** How many gates of one candidate run at the same time, each in its own workspace. */
  readonly gates: number;
  readonly budgetUsd?: number;
  /** At most this many tasks of a group at the same time. */
  readonly groups: Readonly<Record<string, number>>;
}

/** What users of an input format are used to seeing. `{run}`, `{task}` and `{hash}` are filled in. */
export interface Conventions {
  readonly branch: string;
  readonly commitMessage: string;
  readonly mergeMessage: string;
  /** The exit code when nothing is wrong but a conflict. */
  readonly conflictExit: 1 | 3;
  /** How the end of a run is told: a summary for people, or one fixed line a task. */
  readonly summary: 'report' | 'lines';
}

export const NATIVE_CONVENTIONS: Conventions = {
  branch: 'landfast/{run}.{task}',
  commitMessage: '{task}: {title}',
  mergeMessage: 'Land {task}',
  conflictExit: 1,
  summary: 'report',
};

/** The first line of a prompt, short enough for a commit's subject or a table. */
export function titleOf(task: Pick<TaskSpec, 'id' | 'prompt'>, length = 60): string {
  const line = task.prompt.split('\n').find((text) => text.trim() !== '') ?? task.id;
  const title = line.trim().replace(/^#+\s*/, '');
  return title.length > length ? `${title.slice(0, length - 1).trimEnd()}…` : title;
}
