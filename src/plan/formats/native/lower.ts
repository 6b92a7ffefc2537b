/**
 * A checked native plan becomes a Plan, with every default. A configuration stands in where the plan
 * says nothing; its model and role reach only tasks of the agent it names, its tool rules no scripts.
 */

import {
  type AgentOptions,
  type Conventions,
  type FailurePattern,
  type GateSpec,
  type LandingSpec,
  type LimitsSpec,
  type McpServer,
  NATIVE_CONVENTIONS,
  type NotifySpec,
  type Permissions,
  type Plan,
  type RegenerateSpec,
  type RetrySpec,
  type SandboxSpec,
  type TaskSpec,
  type WorkspaceSpec,
} from '../../../model/plan.ts';
import type { Config } from '../../config/schema.ts';
import type { CheckedPlan, CheckedTask } from './schema.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export interface PlanContext {
  /** For a plan without a name. */
  readonly name: string;
  readonly config: Config;
  /** What `~` stands for. */
  readonly home: string;
}

/** `prompts` are in the order of the tasks. */
export function lower(plan: CheckedPlan, prompts: readonly string[], context: PlanContext): Plan {
  const native = withConfig(plan, context.config);
  const sources = { plan: plan.defaults ?? {}, config: context.config };
  return {
    name: native.name ?? context.name,
    ...present('base', native.base),
    ...present('target', native.target),
    tasks: native.tasks.map((task, i) => lowerTask(task, prompts[i] ?? '', sources)),
    gates: (native.gates ?? []).map(lowerGate),
    workspace: lowerWorkspace(native.workspace ?? {}, context.home),
    landing: lowerLanding(native.land ?? {}),
    limits: lowerLimits(native.limits ?? {}),
    sandbox: lowerSandbox(native),
    notify: (native.notify ?? []).map(lowerNotify),
    ...lowerFailures(plan.failures, context.config.failures),
    conventions: lowerConventions(native.conventions ?? {}),
  };
}

function lowerTask(task: CheckedTask, prompt: string, sources: Sources): TaskSpec {
  const agent = agentOf(task, sources);
  const defaults = defaultsFor(agent, sources);
  const retry = task.retry ?? defaults.retry;
  return {
    id: task.id,
    ...present('title', task.title),
    prompt,
    ...present('rules', task.rules ?? defaults.rules),
    agent,
    ...present('role', task.role ?? defaults.role),
    ...present('model', task.model ?? defaults.model),
    ...lowerFallbacks(task.fallbacks ?? usualFallbacks(agent, task.model, defaults)),
    mode: modeOf(task),
    ...(task.read_only === true && task.here === true ? { inPlace: true } : {}),
    ...present('branch', task.branch),
    ...present('commitMessage', task.commit_message),
    ...present('wave', task.wave),
    needs: [...new Set(task.needs)],
    ...present('forks', task.fork),
    writes: task.writes ?? [],
    outside: task.outside ?? defaults.outside ?? 'fail',
    forbids: task.forbids ?? [],
    checks: task.checks ?? [],
    ...present('group', task.group),
    ...(task.independent === true ? { independent: true } : {}),
    retries: task.retries ?? defaults.retries ?? 2,
    ...present('retry', retry && lowerRetry(retry)),
    ...present('estimateUsd', task.estimate_usd ?? usualEstimate(agent, defaults)),
    timeoutMs: task.timeout ?? defaults.timeout ?? HOUR_MS,
    idleMs: task.idle ?? defaults.idle ?? 7 * MINUTE_MS,
    permissions: permissionsOf(task) ?? permissionsOf(defaults) ?? 'acceptEdits',
    allowEmpty: task.allow_empty ?? defaults.allow_empty ?? false,
    env: { ...defaults.env, ...task.env },
    ...present('cwd', task.cwd === '' ? undefined : task.cwd),
    options: lowerOptions(task, defaults),
    hears: [...new Set(task.hears)],
    answer: task.answer ?? defaults.answer ?? 'free',
  };
}

/** An empty list overrides the defaults. */
function lowerFallbacks(section: TaskDefaults['fallbacks']): Pick<TaskSpec, 'fallbacks'> {
  if (section === undefined || section.length === 0) return {};
  return { fallbacks: section.map(({ agent, model }) => ({ agent, ...present('model', model) })) };
}

/** The fallbacks of the defaults, without the agent that the task begins with; none for scripts. */
function usualFallbacks(
  agent: string,
  own: string | undefined,
  { model = undefined, fallbacks = [] }: TaskDefaults,
): TaskDefaults['fallbacks'] {
  if (isScript(agent)) return [];
  return fallbacks.filter((each) => each.agent !== agent || each.model !== (own ?? model));
}

/** Scripts cost nothing. */
function usualEstimate(agent: string, { estimate_usd }: TaskDefaults): number | undefined {
  return isScript(agent) ? undefined : estimate_usd;
}

function modeOf({ read_only, here }: CheckedTask): TaskSpec['mode'] {
  if (read_only === true) return 'read';
  return here === true ? 'here' : 'write';
}

function lowerOptions(task: CheckedTask, defaults: TaskDefaults): AgentOptions {
  const tools = { ...defaults.tools, ...task.tools };
  const servers = Object.entries({ ...defaults.mcp, ...task.mcp });
  return {
    tools: {
      allowed: tools.allowed_tools ?? [],
      disallowed: tools.disallowed_tools ?? [],
      commands: tools.allowed_cli ?? [],
    },
    dirs: tools.add_dirs ?? [],
    mcp: Object.fromEntries(servers.map(([name, server]) => [name, lowerServer(server)])),
    maxTurns: task.max_turns ?? defaults.max_turns ?? null,
    budgetUsd: task.budget_usd ?? defaults.budget_usd ?? null,
    schema: task.schema ?? null,
    passEnv: [...new Set([...(defaults.pass_env ?? []), ...(task.pass_env ?? [])])],
    command: task.command ?? defaults.command ?? [],
    promptAs: task.prompt_as ?? defaults.prompt_as ?? 'stdin',
  };
}

function lowerServer({ command, env, url }: NonNullable<TaskDefaults['mcp']>[string]): McpServer {
  return url === undefined ? { command: command ?? [], env: env ?? {} } : { url };
}

function lowerWorkspace(
  section: NonNullable<CheckedPlan['workspace']>,
  home: string,
): WorkspaceSpec {
  const { setup, setup_key, copy, dir, keep, exclude, inject, salvage } = section;
  return {
    setup: setup ?? [],
    setupKey: setup_key ?? [],
    copy: copy ?? [],
    ...lowerPool(section),
    ...present(
      'dir',
      dir?.replace(/^~(?=\/|$)/, () => home),
    ),
    ...present('keep', keep),
    ...present('salvage', salvage),
    ...present('exclude', exclude),
    inject: (inject ?? []).map(({ from, to, skip, blank }) => ({
      from: from.replace(/^~(?=\/|$)/, () => home),
      to,
      skip: skip ?? [],
      blank: blank ?? [],
    })),
  };
}

/** How workspaces are reused, and what they hold. */
export function lowerPool(
  section: NonNullable<CheckedPlan['workspace']>,
): Pick<
  WorkspaceSpec,
  'pool' | 'poolDisk' | 'keepFiles' | (`${'seed' | 'sparse'}${string}` & keyof WorkspaceSpec)
> {
  return {
    ...present('pool', section.pool),
    ...present('sparse', section.sparse),
    ...present('sparseAlso', section.sparse_also),
    ...present('poolDisk', section.pool_disk),
    ...present('keepFiles', section.keep_files),
    ...present('seed', section.seed),
    ...present('seedBy', section.seed_by),
    ...present('seedMost', section.seed_most),
    ...present('seedDisk', section.seed_disk),
  };
}

function lowerSandbox({ sandbox, fence }: CheckedPlan): SandboxSpec {
  return {
    mode: sandbox ?? 'off',
    network: fence?.network ?? 'on',
    caches: fence?.caches ?? [],
  };
}

/** Without `on`: each end once, and what cannot wait. */
export function lowerNotify(entry: NonNullable<CheckedPlan['notify']>[number]): NotifySpec {
  const { on = ['finished', 'person', 'limit'], webhook, command, desktop } = entry;
  if (webhook !== undefined) return { on, to: { kind: 'webhook', url: webhook } };
  if (command !== undefined) return { on, to: { kind: 'command', run: command } };
  return { on, to: { kind: desktop === true ? 'desktop' : 'bell' } };
}

export function lowerGate({
  name,
  run,
  timeout,
  ...rest
}: NonNullable<CheckedPlan['gates']>[number]): GateSpec {
  return {
    ...{ name, run, timeoutMs: timeout ?? 10 * MINUTE_MS },
    ...present('retries', rest.retries),
    ...present('paths', rest.paths),
    ...present('env', rest.env),
    ...present('quarantine', rest.quarantine),
    ...present('sees', rest.sees),
    ...present('base', rest.base),
  };
}

function lowerLanding(land: NonNullable<CheckedPlan['land']>): LandingSpec {
  return {
    strategy: land.strategy ?? 'merge',
    verify: land.verify ?? 'each',
    onConflict: land.on_conflict ?? 'agent',
    onGateFailure: land.on_gate_failure ?? 'agent',
    onSemantic: land.on_semantic ?? 'agent',
    ...present('gateOrder', land.gate_order),
    reworks: land.reworks ?? 2,
    publish: land.publish ?? 'end',
    ...(land.order === 'plan' ? { order: 'plan' } : {}),
    ...(land.trailers === 'off' ? {} : { trailers: true }),
    ...(land.remember === 'off' ? { remember: false } : {}),
    ...present('regenerate', land.regenerate?.map(lowerRegenerate)),
    ...present('fingerprint', land.fingerprint),
    ...present('radar', land.radar),
    ...present('push', land.push),
  };
}

function lowerRegenerate({
  paths,
  run,
  timeout,
}: NonNullable<NonNullable<CheckedPlan['land']>['regenerate']>[number]): RegenerateSpec {
  return { paths, run, timeoutMs: timeout ?? 10 * MINUTE_MS };
}

function lowerLimits(limits: NonNullable<CheckedPlan['limits']>): LimitsSpec {
  return {
    workers: limits.workers ?? 4,
    gates: limits.gates ?? 1,
    ...present('budgetUsd', limits.budget_usd),
    ...lowerMachine(limits),
    groups: limits.groups ?? {},
  };
}

/** What a run may take of the machine. */
export function lowerMachine(
  limits: NonNullable<CheckedPlan['limits']>,
): Pick<LimitsSpec, 'diskBytes' | 'diskFreeBytes' | 'memoryPerAttempt' | 'loadPerCore'> {
  return {
    ...present('diskBytes', limits.disk),
    ...present('diskFreeBytes', limits.disk_free),
    ...present('memoryPerAttempt', limits.memory_per_attempt),
    ...present('loadPerCore', limits.load),
  };
}

/** `{ key: value }`, or `{}` without a value. */
function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

export type TaskDefaults = NonNullable<CheckedPlan['defaults']>;

export const DEFAULT_AGENT = 'claude';
/** Needs no program of its own. */
export const SCRIPT_AGENT = 'shell';
const SCRIPTS: readonly string[] = [SCRIPT_AGENT, 'command'];

export function isScript(agent: string): boolean {
  return SCRIPTS.includes(agent);
}

/** The plan with the configuration as defaults of its sections; `defaults` itself is not merged. */
export function withConfig(native: CheckedPlan, config: Config): CheckedPlan {
  const { worktree_dir: dir } = config;
  return {
    ...native,
    target: native.target ?? config.target,
    workspace: { ...(dir === undefined ? {} : { dir }), ...config.workspace, ...native.workspace },
    gates: native.gates ?? config.gates,
    land: { ...config.land, ...native.land },
    limits: {
      ...config.limits,
      ...native.limits,
      groups: { ...config.limits?.groups, ...native.limits?.groups },
    },
    sandbox: native.sandbox ?? config.sandbox,
    fence: { ...config.fence, ...native.fence },
    notify: native.notify ?? config.notify,
  };
}

export function agentOf(task: { readonly agent?: string | undefined }, of: Sources): string {
  return task.agent ?? of.plan.agent ?? of.config.defaults?.agent ?? DEFAULT_AGENT;
}

export interface Sources {
  /** The plan's own `defaults`. */
  readonly plan: TaskDefaults;
  readonly config: Config;
}

/** Values for what a task of this agent does not say. */
export function defaultsFor(agent: string, { plan, config }: Sources): TaskDefaults {
  const behind = configured(agent, config);
  return {
    ...behind,
    ...plan,
    env: { ...behind.env, ...plan.env },
    pass_env: [...new Set([...(behind.pass_env ?? []), ...(plan.pass_env ?? [])])],
    tools: { ...behind.tools, ...plan.tools },
    mcp: { ...behind.mcp, ...plan.mcp },
    permissions: permissionsOf(plan) ?? behind.permissions,
  };
}

/** `permissions` is the native key; `tools` has those of claude-code-orchestrator. */
export function permissionsOf({ permissions, tools }: TaskDefaults): Permissions | undefined {
  if (permissions !== undefined) return permissions;
  return tools?.skip_permissions === true ? 'bypassPermissions' : tools?.permission_mode;
}

function configured(agent: string, config: Config): TaskDefaults {
  const { defaults = {}, agent: limits = {} } = config;
  const tools = { ...config.tools, ...defaults.tools };
  const { env, pass_env, retry, allow_empty, outside, answer, rules } = defaults;
  const { mcp, max_turns, budget_usd, estimate_usd } = defaults;
  const { role, model, command, prompt_as, fallbacks } = defaults;
  const isMeant = agent === (defaults.agent ?? DEFAULT_AGENT);
  return {
    env,
    pass_env,
    retry,
    allow_empty,
    outside,
    answer,
    rules,
    retries: defaults.retries ?? limits.max_retries,
    timeout: defaults.timeout ?? inMs(limits.max_runtime),
    idle: defaults.idle ?? inMs(limits.inactivity_timeout),
    permissions: permissionsOf({ ...defaults, tools }),
    ...(isScript(agent) ? {} : { tools, mcp, max_turns, budget_usd, estimate_usd, fallbacks }),
    ...(isMeant ? { role, model, command, prompt_as } : {}),
  };
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

export function lowerConventions(section: NonNullable<CheckedPlan['conventions']>): Conventions {
  const { commit_message, merge_message, conflict_exit, no_tasks, reports = [] } = section;
  const { branch: name, workspace, summary, logs, edits = 'any' } = section;
  const ours = NATIVE_CONVENTIONS;
  return {
    branch: name ?? ours.branch,
    workspace: workspace ?? ours.workspace,
    commitMessage: commit_message ?? ours.commitMessage,
    mergeMessage: merge_message ?? ours.mergeMessage,
    conflictExit: conflict_exit ?? ours.conflictExit,
    summary: summary ?? ours.summary,
    noTasks: no_tasks ?? ours.noTasks,
    ...(edits === 'any' ? {} : { edits }),
    ...(logs === undefined ? {} : { logs }),
    reports: reports.map(({ path, style, subject }) =>
      subject === undefined ? { path, style } : { path, style, subject },
    ),
  };
}

export function lowerRetry(section: NonNullable<TaskDefaults['retry']>): RetrySpec {
  const {
    pause: pauseMs = 1_000,
    factor: growth,
    session = 'resumed',
    after_timeout = false,
  } = section;
  return {
    pauseMs,
    ...(growth === undefined ? {} : { factor: growth }),
    session,
    afterTimeout: after_timeout,
  };
}

type Patterns = NonNullable<CheckedPlan['failures']>;

/** Those of the plan come first. */
export function lowerFailures(
  own: Patterns = [],
  configured: Patterns = [],
): { readonly failures?: readonly FailurePattern[] } {
  const failures = [...own, ...configured].map(({ match, kind, agent }) =>
    agent === undefined ? { match, kind } : { match, kind, agent },
  );
  return failures.length === 0 ? {} : { failures };
}
