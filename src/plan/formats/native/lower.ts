/**
 * A checked native plan becomes a Plan, with every default. A configuration stands in where the plan
 * says nothing; its model and role reach only tasks of the agent it names, its tool rules no scripts.
 */

import {
  type AgentOptions,
  type FailurePattern,
  type GateSpec,
  type LandingSpec,
  NATIVE_CONVENTIONS,
  NO_SANDBOX,
  type NotifySpec,
  type Permissions,
  type Plan,
  type TaskSpec,
  type WorkspaceSpec,
} from '../../../model/plan.ts';
import type { Config } from '../../config/schema.ts';
import { toPlan } from './names.ts';
import type { CheckedPlan, CheckedTask } from './schema.ts';
import { expandHome } from './values.ts';

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
  const { name = context.name, base, target, gates = [], notify = [], sandbox, fence } = native;
  const { edits, reports = [], ...conventions } = native.conventions ?? {};
  const sources = { plan: plan.defaults ?? {}, config: context.config };
  return {
    name,
    ...toPlan({ base, target }),
    tasks: native.tasks.map((task, i) => lowerTask(task, prompts[i] ?? '', sources)),
    gates: gates.map(lowerGate),
    workspace: lowerWorkspace(native.workspace ?? {}, context.home),
    landing: lowerLanding(native.land ?? {}),
    limits: { workers: 4, gates: 1, groups: {}, ...toPlan(native.limits ?? {}) },
    sandbox: { ...NO_SANDBOX, ...toPlan({ mode: sandbox, ...fence }) },
    notify: notify.map(lowerNotify),
    ...lowerFailures(plan.failures, context.config.failures),
    conventions: {
      ...NATIVE_CONVENTIONS,
      ...toPlan(conventions),
      ...(edits === undefined || edits === 'any' ? {} : { edits }),
      reports: reports.map(toPlan),
    },
  };
}

function lowerTask(task: CheckedTask, prompt: string, sources: Sources): TaskSpec {
  const agent = agentOf(task, sources);
  const defaults = defaultsFor(agent, sources);
  const { title, branch, commit_message, wave, fork, group, cwd } = task;
  const retry = task.retry ?? defaults.retry;
  const fallbacks = task.fallbacks ?? usualFallbacks(agent, task.model, defaults);
  return {
    id: task.id,
    prompt,
    agent,
    ...toPlan({ title, branch, commit_message, wave, fork, group, cwd: cwd || undefined }),
    ...toPlan({
      rules: task.rules ?? defaults.rules,
      role: task.role ?? defaults.role,
      model: task.model ?? defaults.model,
      // Scripts cost nothing.
      estimate_usd: task.estimate_usd ?? (isScript(agent) ? undefined : defaults.estimate_usd),
    }),
    ...(fallbacks.length === 0 ? {} : { fallbacks: fallbacks.map(toPlan) }),
    mode: modeOf(task),
    ...(task.read_only === true && task.here === true ? { inPlace: true } : {}),
    needs: [...new Set(task.needs)],
    writes: task.writes ?? [],
    outside: task.outside ?? defaults.outside ?? 'fail',
    forbids: task.forbids ?? [],
    checks: task.checks ?? [],
    ...(task.independent === true ? { independent: true } : {}),
    retries: task.retries ?? defaults.retries ?? 2,
    ...(retry && {
      retry: { pauseMs: 1_000, session: 'resumed', afterTimeout: false, ...toPlan(retry) },
    }),
    timeoutMs: task.timeout ?? defaults.timeout ?? HOUR_MS,
    idleMs: task.idle ?? defaults.idle ?? 7 * MINUTE_MS,
    permissions: permissionsOf(task) ?? permissionsOf(defaults) ?? 'acceptEdits',
    allowEmpty: task.allow_empty ?? defaults.allow_empty ?? false,
    env: { ...defaults.env, ...task.env },
    options: lowerOptions(task, defaults),
    hears: [...new Set(task.hears)],
    answer: task.answer ?? defaults.answer ?? 'free',
  };
}

/** The fallbacks of the defaults, without the agent that the task begins with; none for scripts. */
function usualFallbacks(
  agent: string,
  own: string | undefined,
  { model, fallbacks = [] }: TaskDefaults,
): NonNullable<TaskDefaults['fallbacks']> {
  if (isScript(agent)) return [];
  return fallbacks.filter((each) => each.agent !== agent || each.model !== (own ?? model));
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
    mcp: Object.fromEntries(
      servers.map(([name, { command = [], env = {}, url }]) => [
        name,
        url === undefined ? { command, env } : { url },
      ]),
    ),
    maxTurns: task.max_turns ?? defaults.max_turns ?? null,
    budgetUsd: task.budget_usd ?? defaults.budget_usd ?? null,
    schema: task.schema ?? null,
    passEnv: [...new Set([...(defaults.pass_env ?? []), ...(task.pass_env ?? [])])],
    command: task.command ?? defaults.command ?? [],
    promptAs: task.prompt_as ?? defaults.prompt_as ?? 'stdin',
  };
}

function lowerWorkspace(
  { dir, inject = [], ...section }: NonNullable<CheckedPlan['workspace']>,
  home: string,
): WorkspaceSpec {
  return {
    ...{ setup: [], setupKey: [], copy: [] },
    ...toPlan({ ...section, dir: dir && expandHome(dir, home) }),
    inject: inject.map(({ from, to, skip = [], blank = [] }) => ({
      ...{ from: expandHome(from, home), to, skip, blank },
    })),
  };
}

/** Without `on`: each end once, and what cannot wait. */
function lowerNotify(entry: NonNullable<CheckedPlan['notify']>[number]): NotifySpec {
  const { on = ['finished', 'person', 'limit'], webhook, command, desktop } = entry;
  if (webhook !== undefined) return { on, to: { kind: 'webhook', url: webhook } };
  if (command !== undefined) return { on, to: { kind: 'command', run: command } };
  return { on, to: { kind: desktop === true ? 'desktop' : 'bell' } };
}

function lowerGate(gate: NonNullable<CheckedPlan['gates']>[number]): GateSpec {
  return { timeoutMs: 10 * MINUTE_MS, ...toPlan(gate) };
}

function lowerLanding(section: NonNullable<CheckedPlan['land']>): LandingSpec {
  const { order, trailers, remember, regenerate, ...land } = section;
  return {
    ...{ strategy: 'merge', verify: 'each', onConflict: 'agent', onGateFailure: 'agent' },
    ...{ onSemantic: 'agent', reworks: 2, publish: 'end' },
    ...toPlan(land),
    ...(order === 'plan' ? { order } : {}),
    ...(trailers === 'off' ? {} : { trailers: true }),
    ...(remember === 'off' ? { remember: false } : {}),
    ...(regenerate && {
      regenerate: regenerate.map((each) => ({ timeoutMs: 10 * MINUTE_MS, ...toPlan(each) })),
    }),
  };
}

type Patterns = NonNullable<CheckedPlan['failures']>;

/** Those of the plan come first. */
function lowerFailures(
  own: Patterns = [],
  configured: Patterns = [],
): { readonly failures?: readonly FailurePattern[] } {
  const failures = [...own, ...configured].map(toPlan);
  return failures.length === 0 ? {} : { failures };
}

type TaskDefaults = NonNullable<CheckedPlan['defaults']>;

export const DEFAULT_AGENT = 'claude';
/** Needs no program of its own. */
export const SCRIPT_AGENT = 'shell';

function isScript(agent: string): boolean {
  return agent === SCRIPT_AGENT || agent === 'command';
}

/** The plan with the configuration as defaults of its sections; `defaults` itself is not merged. */
function withConfig(native: CheckedPlan, config: Config): CheckedPlan {
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

interface Sources {
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
function permissionsOf({ permissions, tools }: TaskDefaults): Permissions | undefined {
  if (permissions !== undefined) return permissions;
  return tools?.skip_permissions === true ? 'bypassPermissions' : tools?.permission_mode;
}

function configured(agent: string, config: Config): TaskDefaults {
  const { defaults = {}, agent: limits = {} } = config;
  const { agent: meant = DEFAULT_AGENT, role, model, command, prompt_as, ...others } = defaults;
  const { tools: own, mcp, max_turns, budget_usd, estimate_usd, fallbacks, ...always } = others;
  const tools = { ...config.tools, ...own };
  return {
    ...always,
    retries: defaults.retries ?? limits.max_retries,
    timeout: defaults.timeout ?? inMs(limits.max_runtime),
    idle: defaults.idle ?? inMs(limits.inactivity_timeout),
    permissions: permissionsOf({ ...defaults, tools }),
    ...(isScript(agent) ? {} : { tools, mcp, max_turns, budget_usd, estimate_usd, fallbacks }),
    ...(agent === meant ? { role, model, command, prompt_as } : {}),
  };
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

/**
 * Adds a configuration to a plan whose format cannot say these things: gates, set-up, the fence, a
 * budget, notifications. What the plan says is never changed.
 */
export function complete(plan: Plan, config: Config): Plan {
  const { disk, disk_free, memory_per_attempt, load, budget_usd } = config.limits ?? {};
  const gates = plan.gates.length > 0 ? plan.gates : (config.gates ?? []).map(lowerGate);
  const isGated = gates.length > plan.gates.length;
  const isFenced = plan.sandbox.mode === NO_SANDBOX.mode && config.sandbox !== undefined;
  return {
    ...plan,
    gates,
    workspace: preparation(plan.workspace, config.workspace ?? {}),
    // With verify: off the added gates would never run.
    landing: isGated ? { ...plan.landing, verify: 'each' } : plan.landing,
    limits: {
      ...toPlan({ disk, disk_free, memory_per_attempt, load, budget_usd }),
      ...plan.limits,
    },
    sandbox: isFenced
      ? { ...plan.sandbox, ...toPlan({ mode: config.sandbox, ...config.fence }) }
      : plan.sandbox,
    // A webhook of the plan does not replace the user's own notifications.
    notify: [...plan.notify, ...(config.notify ?? []).map(lowerNotify)],
    ...lowerFailures([], config.failures),
  };
}

function preparation(
  own: Plan['workspace'],
  configured: NonNullable<Config['workspace']>,
): Plan['workspace'] {
  const { setup = [], setup_key: setupKey = [], copy = [], ...others } = configured;
  const { dir: _, keep, salvage, exclude, inject, ...reuse } = others;
  return {
    ...toPlan(reuse),
    ...(own.setup.length > 0 ? own : { ...own, setup, setupKey }),
    copy: [...new Set([...own.copy, ...copy])],
  };
}
