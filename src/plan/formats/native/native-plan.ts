/**
 * The native plan as a typed object: what its YAML would give. Checked against the schema by
 * native-plan.test.ts, so that a key is in both or in neither.
 */

import type { Permissions } from '../../../model/plan.ts';

/** `'500ms'`, `'90s'`, `'7m'`, `'1h30m'`, `'2d'`, or a number of seconds; at most 24 days. */
export type Duration = string | number;

/** `'10GB'`, `'512MiB'`, or a number of bytes. */
export type Size = string | number;

/** A path or glob relative to the repository's root: `src/users/**`, `{a,b}.ts`. */
export type Glob = string;

/** The agents that Landfast can start, or one that the program itself provides (`CustomAgent`). */
export type AgentName = KnownAgent | `function:${string}`;

export type KnownAgent = 'claude' | 'codex' | 'gemini' | 'opencode' | 'acp' | 'command' | 'shell';

/** A plan: tasks, and how their work is checked and landed. */
export interface NativePlan {
  /** The version of the format. */
  readonly landfast: 1;
  /** The name in reports. */
  readonly name?: string;
  /** The branch that work starts from. Default: the target. */
  readonly base?: string;
  /** The branch that gets what has landed. Default: the branch checked out. */
  readonly target?: string;
  /** Values for every task that does not give its own. */
  readonly defaults?: NativeDefaults;
  /** How a task's worktree is prepared. */
  readonly workspace?: NativeWorkspace;
  /** Commands that must pass on the exact tree that lands. */
  readonly gates?: readonly NativeGate[];
  /** How finished work lands. */
  readonly land?: NativeLanding;
  /** How much runs at once, and what it may cost. */
  readonly limits?: NativeLimits;
  /** A fence around every attempt; `require` refuses to start where the machine has none. Default: `off`. */
  readonly sandbox?: 'off' | 'on' | 'require';
  /** What the fence lets through. */
  readonly fence?: NativeFence;
  /** Who is notified of what. */
  readonly notify?: readonly NativeNotification[];
  /** What failures mean whose kind would otherwise be guessed; at most 100. */
  readonly failures?: readonly NativeFailurePattern[];
  /** Names, messages and files as users of other tools know them. */
  readonly conventions?: NativeConventions;
  /** At least one. */
  readonly tasks: readonly NativeTask[];
}

/** Keys that a task and `defaults` share. */
export interface NativeDefaults {
  /** The program that does the task. Default: `claude`. */
  readonly agent?: AgentName;
  /** The agent's own sub-agent or persona. */
  readonly role?: string;
  readonly model?: string;
  /** Who does the task once the agents before are out of retries or cannot work; at most 10. */
  readonly fallbacks?: readonly { readonly agent: AgentName; readonly model?: string }[];
  /** Attempts that may follow a failed one, 0 to 100. Default: 2. */
  readonly retries?: number;
  /** The longest an attempt may take. Default: `1h`. */
  readonly timeout?: Duration;
  /** The longest an agent may be silent. Default: `7m`. */
  readonly idle?: Duration;
  /** Default: `acceptEdits`. */
  readonly permissions?: Permissions;
  /** Environment variables; those of a task are added to those of `defaults`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of the caller's environment that reach the agent; added to those of `defaults`. */
  readonly pass_env?: readonly string[];
  /** What the agent may use. */
  readonly tools?: NativeTools;
  /** Servers of the Model Context Protocol by name; added to those of `defaults`. */
  readonly mcp?: Readonly<Record<string, NativeMcpServer>>;
  /** The most turns of an attempt, 1 to 10,000. */
  readonly max_turns?: number;
  /** The most an attempt may cost, in dollars. */
  readonly budget_usd?: number;
  /** What an attempt is likely to cost, in dollars. Default: learned from earlier attempts. */
  readonly estimate_usd?: number;
  /** For the agents `command` and `acp`: the program and its arguments. */
  readonly command?: readonly string[];
  /** For the agent `command`: how it gets the prompt. Default: `stdin`. */
  readonly prompt_as?: 'stdin' | 'argument';
  /** How attempts follow each other. */
  readonly retry?: NativeRetry;
  /** Whether a task may succeed without a change. Default: false. */
  readonly allow_empty?: boolean;
  /** What a change outside of `writes` does. Default: `fail`. */
  readonly outside?: 'fail' | 'report';
  /** What the agent's last words mean. Default: `free`, nothing. */
  readonly answer?: 'free' | 'status-line' | 'status-word' | 'completion' | 'marker';
  /** `own`: the prompt goes to the agent as it is, without Landfast's rules. */
  readonly rules?: 'own';
}

/** A task. It has exactly one of `prompt` and `prompt_file`. */
export interface NativeTask extends NativeDefaults {
  /** Unique; letters, digits, `_` and `-`, at most 64, beginning with a letter or a digit. */
  readonly id: string;
  /** A name for people, in commits and reports. Default: the prompt's first line. */
  readonly title?: string;
  /** What the agent is asked to do; a script for the agent `shell`. */
  readonly prompt?: string;
  /** A file with the prompt, relative to the plan's folder. */
  readonly prompt_file?: string;
  /** Changes are reported and thrown away; nothing lands. Default: false. */
  readonly read_only?: boolean;
  /** Works in the user's own checkout, where its changes stay uncommitted. Default: false. */
  readonly here?: boolean;
  /** The branch of its work, unique. Default: `landfast/<run>.<id>`. */
  readonly branch?: string;
  /** The message of the commit of what the agent leaves uncommitted. */
  readonly commit_message?: string;
  /** The step that reports count it to, 1 to 100,000; it orders nothing. */
  readonly wave?: number;
  /** Ids of tasks that must have landed before this one starts. */
  readonly needs?: readonly string[];
  /** The id of a needed task of the same agent, whose session this one continues from. */
  readonly fork?: string;
  /** Ids of needed tasks whose last words are put in front of the prompt. */
  readonly hears?: readonly string[];
  /** What the task may change; a change elsewhere fails it (see `outside`). */
  readonly writes?: readonly Glob[];
  /** What the task must not change. */
  readonly forbids?: readonly Glob[];
  /** Shell commands that must pass in its workspace before its work is committed. */
  readonly checks?: readonly string[];
  /** At most `limits.groups[group]` tasks of a group run at once. */
  readonly group?: string;
  /** Its work may overtake work on other paths; every gate needs `paths`. Default: false. */
  readonly independent?: boolean;
  /** A JSON Schema for the agent's answer, which is then in the report. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Where the agent starts, relative to the root. */
  readonly cwd?: string;
}

/** What an agent may use. */
export interface NativeTools {
  /** Another word for `permissions`, which wins over it. */
  readonly permission_mode?: Permissions;
  /** True is `bypassPermissions`; wins over `permission_mode`. */
  readonly skip_permissions?: boolean;
  /** Programs that run without asking. */
  readonly allowed_cli?: readonly string[];
  /** Rules in the agent's own language. */
  readonly allowed_tools?: readonly string[];
  readonly disallowed_tools?: readonly string[];
  /** Further folders: absolute, below the home (`~/`), or relative to the root. */
  readonly add_dirs?: readonly string[];
}

/** A program to start, or an address to call. */
export type NativeMcpServer =
  | { readonly command: readonly string[]; readonly env?: Readonly<Record<string, string>> }
  | { readonly url: string };

/** How attempts follow each other. */
export interface NativeRetry {
  /** Before the next attempt; 0 for none. Default: `1s`. */
  readonly pause?: Duration;
  /** Each pause is so much longer than the one before; at least 1. */
  readonly factor?: number;
  /** Whether the next attempt resumes the session. Default: `resumed`. */
  readonly session?: 'resumed' | 'new';
  /** Whether an attempt that took too long is retried. Default: false. */
  readonly after_timeout?: boolean;
}

/** How a task's worktree is prepared, reused and kept. */
export interface NativeWorkspace {
  /** Shell commands that prepare it. */
  readonly setup?: readonly string[];
  /** What the results of `setup` depend on: while it is unchanged they are reused. */
  readonly setup_key?: readonly Glob[];
  /** Untracked files brought along from the checkout; never committed. */
  readonly copy?: readonly Glob[];
  /** The folder of workspaces: relative to the root, absolute, or `~/…`. Default: beside the repository. */
  readonly dir?: string;
  /** Whether every workspace stays. Default: false. */
  readonly keep?: boolean;
  /** A folder whose files reach the checkout although their task failed. */
  readonly salvage?: string;
  /** What is never committed, as in `.gitignore`. */
  readonly exclude?: readonly string[];
  /** How many workspaces wait for later runs, 0 to 256. Default: one a worker, at most 16. */
  readonly pool?: number;
  /** What waiting workspaces may take on the disk. */
  readonly pool_disk?: Size;
  /** Ignored files that the next task in a workspace may find, as in `.gitignore`. */
  readonly keep_files?: readonly string[];
  /** What `setup` makes that is kept once and copied into new workspaces; needs `setup_key`. */
  readonly seed?: readonly string[];
  /** How it is copied. Default: `auto`. */
  readonly seed_by?: 'auto' | 'copy' | 'link';
  /** How many seeds are kept, 1 to 64. Default: 4. */
  readonly seed_most?: number;
  /** What seeds may take on the disk. */
  readonly seed_disk?: Size;
  /** Which folders a workspace holds: all, those of the task's `writes`, or these as well. Default: `off`. */
  readonly sparse?: 'off' | 'auto' | readonly string[];
  /** Folders that a sparse workspace holds besides. */
  readonly sparse_also?: readonly string[];
  /** Folders of the user's that are laid into workspaces and never committed. */
  readonly inject?: readonly NativeInjection[];
}

/** A folder that is laid into every workspace. */
export interface NativeInjection {
  /** Absolute, below the home (`~/`), or relative to the root. */
  readonly from: string;
  /** Relative to the workspace's root. */
  readonly to: string;
  /** Globs that stay behind. */
  readonly skip?: readonly string[];
  /** Files that are empty there. */
  readonly blank?: readonly string[];
}

/** A command that must pass on the exact tree that lands. */
export interface NativeGate {
  /** Unique among gates; spelled like a task's id. */
  readonly name: string;
  /** A shell command; exit 0 is green. */
  readonly run: string;
  /** Default: `10m`. */
  readonly timeout?: Duration;
  /** How often a red run is repeated before it counts, 0 to 10. Default: 0. */
  readonly retries?: number;
  /** It runs only where one of these changes, and its verdict depends on nothing else. */
  readonly paths?: readonly Glob[];
  readonly env?: Readonly<Record<string, string>>;
  /** It runs and is reported, but red does not count. Default: false. */
  readonly quarantine?: boolean;
  /** What its verdict is about: the files, or the commit with its message and history. Default: `tree`. */
  readonly sees?: 'tree' | 'commit';
  /** `red`: it is expected to be red on the base. */
  readonly base?: 'red';
}

/** How finished work lands. */
export interface NativeLanding {
  /** `none` leaves the work of each task on its branch. Default: `merge`. */
  readonly strategy?: 'merge' | 'squash' | 'rebase' | 'none';
  /** Gates run on every candidate, on the last of a batch, or not at all. Default: `each`. */
  readonly verify?: 'each' | 'batch' | 'off';
  /** Default: `agent`, the conflict goes back to the task's agent. */
  readonly on_conflict?: 'agent' | 'fail' | 'hold';
  /** As it is finished, or in the order of the plan. Default: `ready`. */
  readonly order?: 'ready' | 'plan';
  /** Default: `agent`, the work goes back to the task's agent. */
  readonly on_gate_failure?: 'agent' | 'fail';
  /** When work merges but uses a name that landed work removed or changed. Default: `agent`. */
  readonly on_semantic?: 'agent' | 'warn' | 'fail';
  /** Default: `cheapest`, the shortest known first. */
  readonly gate_order?: 'cheapest' | 'listed';
  /** How often work may go back to its agent, 0 to 100. Default: 2. */
  readonly reworks?: number;
  /** When the target branch moves. Default: `end`. */
  readonly publish?: 'end' | 'each' | 'ask' | 'off';
  /** Whether landed commits name task, run, agent and cost. Default: `on`. */
  readonly trailers?: 'on' | 'off';
  /** Whether a conflict that was resolved before is resolved the same way. Default: `on`. */
  readonly remember?: 'on' | 'off';
  /** Lockfiles and generated files that a command makes instead of a merge. */
  readonly regenerate?: readonly NativeRegeneration[];
  /** Commands such as `node --version`: a green verdict holds while they print the same. */
  readonly fingerprint?: readonly string[];
  /** How often live workspaces are compared, or `off`. Default: `2s`. */
  readonly radar?: Duration;
  /** With strategy `none`: the remote that finished branches are pushed to. */
  readonly push?: string;
}

/** Files that a command makes instead of a merge. */
export interface NativeRegeneration {
  /** At least one. */
  readonly paths: readonly Glob[];
  /** A shell command. */
  readonly run: string;
  /** Default: `10m`. */
  readonly timeout?: Duration;
}

/** How much runs at once, and what it may cost. */
export interface NativeLimits {
  /** Attempts at the same time, 1 to 256. Default: 4. */
  readonly workers?: number;
  /** Gates of one candidate at the same time, 1 to 256. Default: 1. */
  readonly gates?: number;
  /** What the run may cost, in dollars. */
  readonly budget_usd?: number;
  /** What workspaces and data of all runs of the repository may take together. */
  readonly disk?: Size;
  /** No attempt starts while less is free; 0 for no such limit. Default: `500MB`. */
  readonly disk_free?: Size;
  /** No agent starts beside others while less memory is available; 0 for no such limit. Default: `300MB`. */
  readonly memory_per_attempt?: Size;
  /** The load average per core above which no attempt starts beside others. */
  readonly load?: number;
  /** By group: how many of its tasks run at once, 1 to 256. */
  readonly groups?: Readonly<Record<string, number>>;
}

/** What the fence of `sandbox` lets through. */
export interface NativeFence {
  /** All, nothing, or hosts such as `api.example.com`, `*.npmjs.org`. Default: `on`. */
  readonly network?: 'on' | 'off' | readonly string[];
  /** Folders outside of the workspace that may be written. */
  readonly caches?: readonly string[];
}

/** One way to notify, and the occasions. */
export type NativeNotification = {
  /** Default: `finished`, `person` and `limit`. */
  readonly on?: readonly ('finished' | 'failed' | 'person' | 'limit')[];
} & (
  | { /** A public HTTPS address. */ readonly webhook: string }
  | { /** A shell command. */ readonly command: string }
  | { readonly desktop: true }
  | { readonly bell: true }
);

/** What a failure means whose output matches. */
export interface NativeFailurePattern {
  /** A regular expression of JavaScript; case does not matter. */
  readonly match: string;
  readonly kind: 'transient' | 'rate-limited' | 'permanent' | 'auth' | 'billing';
  /** Default: every agent. */
  readonly agent?: AgentName;
}

/** Names, messages and files; keys in braces are filled in. */
export interface NativeConventions {
  /** With `{task}`; also `{run}`, `{hash}`. Default: `landfast/{run}.{task}`. */
  readonly branch?: string;
  /** With `{task}` or `{branch}`; also `{run}`. Default: `{run}/{task}`. */
  readonly workspace?: string;
  /** `{run}`, `{task}`, `{title}`, `{agent}`, `{model}`. Default: `{task}: {title}`. */
  readonly commit_message?: string;
  /** The same keys and `{cost}`. Default: `Land {task}`. */
  readonly merge_message?: string;
  /** The exit code when nothing is wrong but a conflict. Default: 1. */
  readonly conflict_exit?: 1 | 3;
  /** Default: `report`. */
  readonly summary?: 'report' | 'lines' | 'results' | 'streams';
  /** What `--tasks` that names none of them is. Default: `error`. */
  readonly no_tasks?: 'error' | 'notice';
  /** Uncommitted changes beside which a run starts. Default: `any`. */
  readonly edits?: 'any' | 'apart' | 'none';
  /** Each task's output as files. */
  readonly logs?: { readonly dir: string; readonly style: 'streams' | 'story' | 'result' };
  /** Files written at the end. */
  readonly reports?: readonly {
    readonly path: string;
    readonly style: 'results' | 'waves-json' | 'waves-text';
    readonly subject?: string;
  }[];
}

/** Gives a plan its type; what the type cannot say is checked when the plan is read. */
export function definePlan(plan: NativePlan): NativePlan {
  return plan;
}
