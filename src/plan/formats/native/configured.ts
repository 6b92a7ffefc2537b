/**
 * What a configuration adds to a native plan: its values stand where the plan says nothing.
 *
 *   Q1. What is meant for a certain agent reaches only its tasks: a model or a role of the
 *       configuration is that of the agent it names, and rules for tools mean nothing to a script.
 */

import type { Permissions } from '../../../model/plan.ts';
import type { Config } from '../../config/schema.ts';
import type { NativePlan } from './schema.ts';

export type Wishes = NonNullable<NativePlan['defaults']>;

/** The agent of a task where nobody says. */
export const DEFAULT_AGENT = 'claude';
/** An agent that needs no program of its own: what runs a script. */
export const SCRIPT_AGENT = 'shell';
const SCRIPTS: readonly string[] = [SCRIPT_AGENT, 'command'];

/** Whether an agent runs a program instead of reading prose. */
export function isScript(agent: string): boolean {
  return SCRIPTS.includes(agent);
}

/** The plan with the sections of the configuration behind its own; `defaults` is not touched. */
export function withConfig(native: NativePlan, config: Config): NativePlan {
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

/** The agent of a task that may not name one. */
export function agentOf(task: { readonly agent?: string | undefined }, of: Sources): string {
  return task.agent ?? of.plan.agent ?? of.config.defaults?.agent ?? DEFAULT_AGENT;
}

/** Where values come from that a task does not say itself. */
export interface Sources {
  /** The plan's own `defaults`. */
  readonly plan: Wishes;
  readonly config: Config;
}

/** What stands behind the words of a task of this agent. */
export function wishesFor(agent: string, { plan, config }: Sources): Wishes {
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

/** `permissions` is our own word for it; `tools` has the words of claude-code-orchestrator. */
export function permissionsOf({ permissions, tools }: Wishes): Permissions | undefined {
  if (permissions !== undefined) return permissions;
  return tools?.skip_permissions === true ? 'bypassPermissions' : tools?.permission_mode;
}

function configured(agent: string, config: Config): Wishes {
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
