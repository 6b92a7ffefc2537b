/**
 * The Plan: what to do, in what order, under which limits. Every input format becomes this.
 *
 * - A Plan is plain JSON: it is stored whole in the run's first journal entry.
 * - Nothing here says which format it came from. Where formats differ in what users see, the
 *   difference is a value (see Conventions), never a format's name.
 * - Paths are relative to the repository's root and use `/`.
 */

export type TaskId = string;
export type Sha = string;

export interface Plan {
  readonly name: string;
  /** Where work starts: a branch, as its remote has it if it has one; absent means `target`. */
  readonly base?: string;
  /** The branch to publish to; absent means the one checked out when the run starts. */
  readonly target?: string;
  readonly tasks: readonly TaskSpec[];
  readonly gates: readonly GateSpec[];
  readonly workspace: WorkspaceSpec;
  readonly landing: LandingSpec;
  readonly limits: LimitsSpec;
  readonly sandbox: SandboxSpec;
  /** Notifications about the run. */
  readonly notify: readonly NotifySpec[];
  /** Meanings of failures whose kind can only be guessed; the first match counts. */
  readonly failures?: readonly FailurePattern[];
  readonly conventions: Conventions;
}

/** Words of a failure message, and the kind of failure they mean. */
export interface FailurePattern {
  /** A regular expression; case is ignored. */
  readonly match: string;
  readonly kind: 'transient' | 'rate-limited' | 'permanent' | 'auth' | 'billing';
  /** Only failures of this agent; absent means any agent. */
  readonly agent?: string;
}

export interface TaskSpec {
  readonly id: TaskId;
  /** A name for people; absent means the first line of the prompt. */
  readonly title?: string;
  /** What the agent is asked to do; for the shell agent a script. */
  readonly prompt: string;
  /** `own`: the prompt is complete, and nothing is added around it. */
  readonly rules?: 'own';
  readonly agent: string;
  /** The agent's own sub-agent or persona. */
  readonly role?: string;
  readonly model?: string;
  /** Who takes over when those before have used up their retries or cannot work. */
  readonly fallbacks?: readonly Assignee[];
  /**
   * A read task lands nothing; its changes are discarded and reported. A task `here` works in the
   * user's own checkout: its changes stay there, uncommitted.
   */
  readonly mode: 'write' | 'read' | 'here';
  /** A read task in the user's own checkout: it sees uncommitted work, and its changes stay. */
  readonly inPlace?: true;
  /** The branch of its work, if the user has named one. */
  readonly branch?: string;
  /**
   * Existing work: the task begins as if an attempt had finished with this commit, and an agent
   * sees it only if it does not land.
   */
  readonly work?: Sha;
  /** The message of the commit of its uncommitted changes, instead of the plan's. */
  readonly commitMessage?: string;
  /** The wave that users sort it into, from 1. It orders nothing: `needs` does. */
  readonly wave?: number;
  readonly needs: readonly TaskId[];
  /** Begins with the history of this task's session; the task is one of its needs. */
  readonly forks?: TaskId;
  /** Needed tasks whose last words precede its prompt. */
  readonly hears: readonly TaskId[];
  /** Globs of the paths it may change; none means undeclared. */
  readonly writes: readonly string[];
  /** Whether a change outside `writes` fails the task, or is only reported. */
  readonly outside: 'fail' | 'report';
  readonly forbids: readonly string[];
  /** Shell commands that must pass in the task's own workspace before its work is committed. */
  readonly checks: readonly string[];
  readonly group?: string;
  /** Its work may pass earlier work in the landing queue that changes other paths. */
  readonly independent?: true;
  /** How many attempts may follow a failed one. */
  readonly retries: number;
  /** How they follow; absent means the scheduler's defaults. */
  readonly retry?: RetrySpec;
  /** The likely cost of an attempt; absent means that the run finds out. */
  readonly estimateUsd?: number;
  readonly timeoutMs: number;
  readonly idleMs: number;
  readonly permissions: Permissions;
  /** Whether a write task may succeed without changing anything. */
  readonly allowEmpty: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Where the agent starts, relative to the repository's root. */
  readonly cwd?: string;
  readonly options: AgentOptions;
  readonly answer: Answer;
}

/** An agent, and its model if not the agent's default. */
export interface Assignee {
  readonly agent: string;
  readonly model?: string;
}

/** How an attempt follows a failed one, where users of a format expect something else. */
export interface RetrySpec {
  readonly pauseMs: number;
  /** The factor between pauses; absent means that all are the same. */
  readonly factor?: number;
  /** Whether it resumes the failed one's session, if the agent can. */
  readonly session: 'resumed' | 'new';
  /** Whether another attempt follows one that ran out of time. */
  readonly afterTimeout: boolean;
}

/**
 * How the agent's last words are read.
 *   free         nothing
 *   status-line  the last line may be `{"status": "FAILED", "reason": …}`, which fails the attempt
 *   status-word  a line `Status: DONE | DONE_WITH_CONCERNS | BLOCKED | NEEDS_CONTEXT`
 *   completion   the last fenced JSON object that has `task_completed`
 *   marker       the same, or the file `.claude-task-complete` in the root; one of them is needed
 */
export type Answer = 'free' | 'status-line' | 'status-word' | 'completion' | 'marker';

/** What a task asks of its agent. A plan that asks for more than the agent can do is refused. */
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
  /** A shell command; exit 0 is green. For a gate in process, its name for people. */
  readonly run: string;
  /** A function of the program that started the run, found by the gate's name, decides. */
  readonly inProcess?: true;
  readonly timeoutMs: number;
  /** How often a red run is repeated at once before it counts. */
  readonly retries?: number;
  /** It runs only if a candidate changes one of these; its verdict depends on nothing else. */
  readonly paths?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** It runs and is reported, but red does not count. */
  readonly quarantine?: boolean;
  /** It is expected to be red on the base: the plan fixes that. */
  readonly base?: 'red';
  /** `commit`: it reads the commit itself, so its verdict holds for that commit only. */
  readonly sees?: 'tree' | 'commit';
}

export interface WorkspaceSpec {
  /** Shell commands that prepare a workspace. */
  readonly setup: readonly string[];
  /** Files that the results of `setup` depend on: while unchanged, the results may be reused. */
  readonly setupKey: readonly string[];
  /** Untracked files copied from the user's checkout; never committed. */
  readonly copy: readonly string[];
  /** The folder that workspaces are made in; absent means one beside the repository. */
  readonly dir?: string;
  /** No workspace is removed, whatever its outcome. */
  readonly keep?: boolean;
  readonly inject: readonly InjectSpec[];
  /** A folder whose new files reach the user's checkout even if their task failed. */
  readonly salvage?: string;
  /** Files of agents that are never committed, in git's ignore syntax. */
  readonly exclude?: readonly string[];
  /** How many idle workspaces are kept for later runs; 0 means that none is reused. */
  readonly pool?: number;
  /** What the idle ones may take on the disk, in bytes. */
  readonly poolDisk?: number;
  /** Ignored files that the next task in a workspace may find, in git's ignore syntax. */
  readonly keepFiles?: readonly string[];
  /** Results of `setup` to keep once and copy into new workspaces, in the same syntax. */
  readonly seed?: readonly string[];
  /** `auto`: sharing blocks where the disk can, else copied; `link`: hard links. */
  readonly seedBy?: 'auto' | 'copy' | 'link';
  /** How many seeds are kept. */
  readonly seedMost?: number;
  /** What they may take on the disk, in bytes. */
  readonly seedDisk?: number;
  /**
   * Which folders a task that writes finds: all, those of its scope, or these and those of its
   * scope; absent means all. Gates always have all.
   */
  readonly sparse?: 'off' | 'auto' | readonly string[];
  /** Further folders to check out. */
  readonly sparseAlso?: readonly string[];
}

/** A folder of the user that is copied into workspaces and never committed. */
export interface InjectSpec {
  /** Relative to the repository's root, or absolute. */
  readonly from: string;
  readonly to: string;
  /** Globs, relative to `from`, of files to leave out. */
  readonly skip: readonly string[];
  /** Files, relative to `to`, that are blanked for tasks that write. */
  readonly blank: readonly string[];
}

export interface LandingSpec {
  /** `none` leaves the work on the task's branch: nothing is merged and nothing is published. */
  readonly strategy: 'merge' | 'squash' | 'rebase' | 'none';
  /** Every candidate, the last one of many for all of them, or none. */
  readonly verify: 'each' | 'batch' | 'off';
  /** `hold` fails the task, publishes nothing of the run and keeps every workspace. */
  readonly onConflict: 'agent' | 'fail' | 'hold';
  readonly onGateFailure: 'agent' | 'fail';
  /** What happens to work whose names clash with landed work. */
  readonly onSemantic: 'agent' | 'warn' | 'fail';
  /** In which order gates run; absent means the cheapest first. */
  readonly gateOrder?: 'cheapest' | 'listed';
  /** How often work that did not land may go back to its agent. */
  readonly reworks: number;
  /** When the target branch moves: at the end, also after each landing, once approved, or never. */
  readonly publish: 'end' | 'each' | 'ask' | 'off';
  /** `plan`: in the order of the plan; absent means as it is finished, most urgent first. */
  readonly order?: 'plan';
  /** Whether landed commits name task, run, agent and cost; absent means no. */
  readonly trailers?: true;
  /** Whether known conflicts are resolved as before; absent means yes. */
  readonly remember?: false;
  /** Files that are regenerated by a command instead of merged. */
  readonly regenerate?: readonly RegenerateSpec[];
  /** Commands whose output a verdict depends on, such as `node --version`. */
  readonly fingerprint?: readonly string[];
  /** How often the radar looks, in milliseconds; absent means every two seconds. */
  readonly radar?: 'off' | number;
  /** With `none`: the remote that finished branches are pushed to. */
  readonly push?: string;
}

/** Lockfiles and generated files, and the command that makes them. */
export interface RegenerateSpec {
  readonly paths: readonly string[];
  /** A shell command, run on the otherwise merged files. */
  readonly run: string;
  readonly timeoutMs: number;
}

export interface LimitsSpec {
  readonly workers: number;
  /** How many candidates are verified at the same time, each in a workspace of its own. */
  readonly gates: number;
  readonly budgetUsd?: number;
  /** The most that workspaces and run data may take; absent means no limit. */
  readonly diskBytes?: number;
  /** Free space below which no attempt starts; absent means `LEAST_FREE_BYTES` (machine.ts). */
  readonly diskFreeBytes?: number;
  /** The memory of a coding agent's attempt; absent means `ATTEMPT_BYTES` (machine.ts). */
  readonly memoryPerAttempt?: number;
  /** Load average per core above which no attempt starts beside others. */
  readonly loadPerCore?: number;
  /** At most this many tasks of a group at the same time. */
  readonly groups: Readonly<Record<string, number>>;
}

/** A notification. Webhooks get JSON; a command gets the same JSON on standard input. */
export interface NotifySpec {
  readonly on: readonly Occasion[];
  readonly to:
    | { readonly kind: 'webhook'; readonly url: string }
    | { readonly kind: 'command'; readonly run: string }
    | { readonly kind: 'desktop' }
    | { readonly kind: 'bell' };
}

/** `finished` is every end of a run, `failed` one with a failed task; `person`: one is needed. */
export type Occasion = 'finished' | 'failed' | 'person' | 'limit';

/**
 * Names and texts that users of an input format expect. Keys in braces are filled in
 * (`TEMPLATE_KEYS`, names.ts).
 */
export interface Conventions {
  readonly branch: string;
  /** The folder of a workspace, below the one that all of them are in. */
  readonly workspace: string;
  readonly commitMessage: string;
  readonly mergeMessage: string;
  /** The exit code when conflicts are the only failures. */
  readonly conflictExit: 1 | 3;
  /** How a run's end is shown: a summary for people, or one fixed line per task. */
  readonly summary: 'report' | 'lines' | 'results' | 'streams';
  /** What `--tasks` without a known task means: a mistake, or nothing to do. */
  readonly noTasks: 'error' | 'notice';
  /**
   * Uncommitted changes beside which no run starts: `apart`, those in the scope of a task that
   * writes; `none`, any to tracked files. Absent means that they matter only when publishing.
   */
  readonly edits?: 'apart' | 'none';
  /** Where users look for each task's output; absent means only in the run's own folder. */
  readonly logs?: LogsSpec;
  /** Files that are written when the run ends, besides `--report`. */
  readonly reports: readonly ReportSpec[];
}

export interface LogsSpec {
  /** Relative to the repository's root, or absolute. */
  readonly dir: string;
  /**
   *   streams  `<task>-stdout.log` and `<task>-stderr.log`
   *   story    `<task>.log` with [INIT], [TOOL], [RESULT] and [COMPLETE]
   *   result   `<task>.log` as it came, and the agent's result as `<task>.log.json`
   */
  readonly style: 'streams' | 'story' | 'result';
}

export interface ReportSpec {
  /** Relative to the repository's root, or absolute. */
  readonly path: string;
  /**
   *   results     one JSON object with the outcome, branch and session of each task
   *   waves-json  stages with their tasks, as JSON; waves-text the same as Markdown
   */
  readonly style: 'results' | 'waves-json' | 'waves-text';
  /** The report's subject, if not the plan's name. */
  readonly subject?: string;
}

export const NATIVE_CONVENTIONS: Conventions = {
  branch: 'landfast/{run}.{task}',
  workspace: '{run}/{task}',
  commitMessage: '{task}: {title}',
  mergeMessage: 'Land {task}',
  conflictExit: 1,
  summary: 'report',
  noTasks: 'error',
  reports: [],
};

/** Whether a task works in the user's own checkout instead of a workspace. */
export function usesCheckout({ mode, inPlace }: Pick<TaskSpec, 'mode' | 'inPlace'>): boolean {
  return mode === 'here' || inPlace === true;
}

/** The first line of a prompt, short enough for a commit's subject or a table. */
export function titleOf(task: Pick<TaskSpec, 'id' | 'prompt' | 'title'>, length = 60): string {
  const line =
    (task.title ?? task.prompt).split('\n').find((text) => text.trim() !== '') ?? task.id;
  const title = line.trim().replace(/^#+\s*/, '');
  return title.length > length ? `${title.slice(0, length - 1).trimEnd()}…` : title;
}

/** The agents that may do a task, the first choice first. */
export function assigneesOf(
  task: Pick<TaskSpec, 'agent' | 'model' | 'fallbacks'>,
): readonly Assignee[] {
  return [firstAssignee(task), ...(task.fallbacks ?? [])];
}

/** The task's first choice. */
export function firstAssignee({ agent, model }: Pick<TaskSpec, 'agent' | 'model'>): Assignee {
  return model === undefined ? { agent } : { agent, model };
}

/** Whether both are the same agent with the same model. */
export function isSameAssignee(one: Assignee, other: Assignee): boolean {
  return one.agent === other.agent && one.model === other.model;
}

/** The task as it is given to another agent than its first choice. */
export function assignedTo(task: TaskSpec, by: Assignee | undefined): TaskSpec {
  if (by === undefined) return task;
  const { model: _, ...rest } = task;
  return { ...rest, ...by };
}

/** `codex`, or `codex (gpt-5)`. */
export function assigneeName({ agent, model }: Assignee): string {
  return model === undefined ? agent : `${agent} (${model})`;
}

/** Limits that an event sets; the others stay what they were. */
export type LimitChanges = Partial<Omit<LimitsSpec, 'groups'>>;

/** The compiler rejects a missing one. */
const ALL: Readonly<Record<keyof LimitChanges, true>> = {
  workers: true,
  gates: true,
  budgetUsd: true,
  diskBytes: true,
  diskFreeBytes: true,
  memoryPerAttempt: true,
  loadPerCore: true,
};

/** The limits in an event, without its other fields. */
export function limitChanges(event: LimitChanges): LimitChanges {
  return Object.fromEntries(Object.entries(event).filter(([key]) => Object.hasOwn(ALL, key)));
}
