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
  /**
   * The branch that the work starts from, as its remote has it where there is one; absent means the
   * branch to publish to.
   */
  readonly base?: string;
  /** The branch to publish to; absent means the branch that is checked out when the run starts. */
  readonly target?: string;
  readonly tasks: readonly TaskSpec[];
  readonly gates: readonly GateSpec[];
  readonly workspace: WorkspaceSpec;
  readonly landing: LandingSpec;
  readonly limits: LimitsSpec;
  readonly sandbox: SandboxSpec;
  /** Who is told of what happens to the run. */
  readonly notify: readonly NotifySpec[];
  /** What failures mean whose kind can only be guessed; the first that matches counts. */
  readonly failures?: readonly FailurePattern[];
  readonly conventions: Conventions;
}

/** Words of a failure, and the kind of failure that they stand for. */
export interface FailurePattern {
  /** A regular expression, whatever the case. */
  readonly match: string;
  readonly kind: 'transient' | 'rate-limited' | 'permanent' | 'auth' | 'billing';
  /** Only failures of this agent; absent means of any. */
  readonly agent?: string;
}

export interface TaskSpec {
  readonly id: TaskId;
  /** A name for people; absent means the first line of the prompt. */
  readonly title?: string;
  /** What the agent is asked to do; for the shell agent a script. */
  readonly prompt: string;
  /** `own`: the prompt says everything itself, and the agent gets nothing around it. */
  readonly rules?: 'own';
  readonly agent: string;
  /** The agent's own sub-agent or persona. */
  readonly role?: string;
  readonly model?: string;
  /** Who does the task when those before have used up their retries, or cannot work at all. */
  readonly fallbacks?: readonly Assignee[];
  /**
   * A read task's changes are thrown away and reported; it lands nothing. A task `here` works in the
   * user's own checkout: its changes stay there, uncommitted.
   */
  readonly mode: 'write' | 'read' | 'here';
  /** A read task in the user's own checkout: it sees what is there, and its changes stay. */
  readonly inPlace?: true;
  /** The branch of its work, where the user has named one. */
  readonly branch?: string;
  /**
   * Work that is there already: the task begins as if an attempt had finished with this commit, and
   * an agent sees it only where it does not land.
   */
  readonly work?: Sha;
  /** The message of the commit of what it leaves, where the plan's usual one does not fit. */
  readonly commitMessage?: string;
  /** The step of the plan that its users count it to, from 1. It orders nothing: `needs` does. */
  readonly wave?: number;
  readonly needs: readonly TaskId[];
  /** Begins with what the session of this task, which it needs, has learned. */
  readonly forks?: TaskId;
  /** Tasks it needs whose last words are put in front of its prompt. */
  readonly hears: readonly TaskId[];
  /** Path globs this task may change; none means it did not say. */
  readonly writes: readonly string[];
  /** Whether a change outside `writes` fails the task, or is only reported. */
  readonly outside: 'fail' | 'report';
  readonly forbids: readonly string[];
  /** Shell commands that must pass in the task's own workspace before its work is committed. */
  readonly checks: readonly string[];
  readonly group?: string;
  /** Its work may pass what is before it in the landing queue, where both change other paths. */
  readonly independent?: true;
  /** How many attempts may follow a failed one. */
  readonly retries: number;
  /** How they follow; absent means as the scheduler knows best. */
  readonly retry?: RetrySpec;
  /** What an attempt is likely to cost; absent means that the run finds out. */
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

/** An agent, and its model where that is not its usual one. */
export interface Assignee {
  readonly agent: string;
  readonly model?: string;
}

/** What users of a format expect of an attempt that follows a failed one. */
export interface RetrySpec {
  readonly pauseMs: number;
  /** What each further pause is multiplied with; absent means that they are all the same. */
  readonly factor?: number;
  /** Whether it goes on with the session of the failed one, where the agent can. */
  readonly session: 'resumed' | 'new';
  /** Whether one that ran out of its whole time is followed by another. */
  readonly afterTimeout: boolean;
}

/**
 * What the agent's last words mean beyond their text.
 *   free         nothing
 *   status-line  the last line may be `{"status": "FAILED", "reason": …}`, which fails the attempt
 *   status-word  a line `Status: DONE | DONE_WITH_CONCERNS | BLOCKED | NEEDS_CONTEXT`
 *   completion   the last fenced JSON object that has `task_completed`
 *   marker       the same, or else the file `.claude-task-complete` in the workspace's root; without
 *                both the task is not complete
 */
export type Answer = 'free' | 'status-line' | 'status-word' | 'completion' | 'marker';

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
  /** A shell command; exit 0 is green. For a gate in process the words that name it to people. */
  readonly run: string;
  /** A function of the program that started the run, known by the gate's name, decides. */
  readonly inProcess?: true;
  readonly timeoutMs: number;
  /** How often a red run is repeated at once before it counts. */
  readonly retries?: number;
  /** It is run only where a candidate changes one of these; its verdict depends on nothing else. */
  readonly paths?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** It is run and told of, but red does not count. */
  readonly quarantine?: boolean;
  /** It is expected to be red on the base: the plan mends that. */
  readonly base?: 'red';
  /** `commit`: it reads the commit itself, so its verdict holds for that commit only. */
  readonly sees?: 'tree' | 'commit';
}

export interface WorkspaceSpec {
  /** Shell commands that prepare a workspace. */
  readonly setup: readonly string[];
  /** What the results of `setup` depend on: where none of it has changed, they may be used again. */
  readonly setupKey: readonly string[];
  /** Untracked files brought along from the user's checkout; never committed. */
  readonly copy: readonly string[];
  /** The folder that workspaces are made in; absent means one beside the repository. */
  readonly dir?: string;
  /** No workspace is removed, whatever its outcome. */
  readonly keep?: boolean;
  readonly inject: readonly InjectSpec[];
  /** A folder whose new files reach the user's checkout although their task failed. */
  readonly salvage?: string;
  /** What agents leave in a workspace that is never committed, in git's ignore syntax. */
  readonly exclude?: readonly string[];
  /** How many workspaces wait for later runs; 0: none is ever used twice. */
  readonly pool?: number;
  /** What the waiting ones may take on the disk, in bytes. */
  readonly poolDisk?: number;
  /** Ignored files that the next task in a workspace may find, in git's ignore syntax. */
  readonly keepFiles?: readonly string[];
  /** What `setup` makes that is kept once and copied into new workspaces, in the same syntax. */
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
  /** Folders that are checked out besides. */
  readonly sparseAlso?: readonly string[];
}

/** A folder of the user's that is laid into the workspaces of tasks and never committed. */
export interface InjectSpec {
  /** Relative to the repository's root, or absolute. */
  readonly from: string;
  readonly to: string;
  /** Globs, relative to `from`, of what stays behind. */
  readonly skip: readonly string[];
  /** Files, relative to `to`, that are empty where a task writes, whatever they hold elsewhere. */
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
  /** What becomes of work that does not fit to the names of what landed. */
  readonly onSemantic: 'agent' | 'warn' | 'fail';
  /** In which order gates run; absent means the cheapest first. */
  readonly gateOrder?: 'cheapest' | 'listed';
  /** How often work may go back to its agent because it did not land. */
  readonly reworks: number;
  /** When the target branch is moved: as the run ends, also after each landing, or never. */
  readonly publish: 'end' | 'each' | 'ask' | 'off';
  /** `plan`: in the order of the plan; absent means as it is finished, the most urgent first. */
  readonly order?: 'plan';
  /** Whether landed commits name task, run, agent and cost; absent means no. */
  readonly trailers?: true;
  /** Whether conflicts that were resolved before are resolved the same way; absent means yes. */
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
  /** What workspaces and the data of runs may take together; absent means no limit. */
  readonly diskBytes?: number;
  /** Free space below which no attempt starts; absent means `LEAST_FREE_BYTES` (machine.ts). */
  readonly diskFreeBytes?: number;
  /** What an attempt of a coding agent takes; absent means `ATTEMPT_BYTES` (machine.ts). */
  readonly memoryPerAttempt?: number;
  /** The load average for each core above which no attempt starts beside others. */
  readonly loadPerCore?: number;
  /** At most this many tasks of a group at the same time. */
  readonly groups: Readonly<Record<string, number>>;
}

/** Who is told what. Webhooks get JSON; a command gets the same JSON on standard input. */
export interface NotifySpec {
  readonly on: readonly Occasion[];
  readonly to:
    | { readonly kind: 'webhook'; readonly url: string }
    | { readonly kind: 'command'; readonly run: string }
    | { readonly kind: 'desktop' }
    | { readonly kind: 'bell' };
}

/** `finished` is every end of a run, `failed` one with a failed task; `person` needs one. */
export type Occasion = 'finished' | 'failed' | 'person' | 'limit';

/**
 * What users of an input format are used to seeing. What stands in braces is filled in; what may is
 * in `TEMPLATE_KEYS` (names.ts).
 */
export interface Conventions {
  readonly branch: string;
  /** The folder of a workspace, below the one that all of them are in. */
  readonly workspace: string;
  readonly commitMessage: string;
  readonly mergeMessage: string;
  /** The exit code when nothing is wrong but a conflict. */
  readonly conflictExit: 1 | 3;
  /** How the end of a run is told: a summary for people, or one fixed line a task. */
  readonly summary: 'report' | 'lines' | 'results' | 'streams';
  /** What `--tasks` means when it names none of the plan's: a mistake, or nothing to do. */
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
  /** What the report is about, where that is more than the plan's name. */
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

/** Whether a task works in the user's own checkout, without a workspace. */
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
