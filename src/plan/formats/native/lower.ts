/** A checked native plan becomes a Plan: every default is written down here, and only here. */

import type {
  AgentOptions,
  GateSpec,
  LandingSpec,
  LimitsSpec,
  McpServer,
  NotifySpec,
  Plan,
  RegenerateSpec,
  SandboxSpec,
  TaskSpec,
  WorkspaceSpec,
} from '../../../model/plan.ts';
import type { Config } from '../../config/schema.ts';
import {
  agentOf,
  isScript,
  permissionsOf,
  type Sources,
  type Wishes,
  wishesFor,
  withConfig,
} from './configured.ts';
import { lowerConventions, lowerRetry } from './conventions.ts';
import { lowerFailures } from './failures.ts';
import type { NativePlan, NativeTask } from './schema.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** What the text of a plan does not hold. */
export interface Around {
  /** For a plan that has no name of its own. */
  readonly name: string;
  readonly config: Config;
  /** What `~` stands for. */
  readonly home: string;
}

/** `prompts` are in the order of the tasks. */
export function lower(plan: NativePlan, prompts: readonly string[], around: Around): Plan {
  const native = withConfig(plan, around.config);
  const sources = { plan: plan.defaults ?? {}, config: around.config };
  return {
    name: native.name ?? around.name,
    ...present('base', native.base),
    ...present('target', native.target),
    tasks: native.tasks.map((task, i) => lowerTask(task, prompts[i] ?? '', sources)),
    gates: (native.gates ?? []).map(lowerGate),
    workspace: lowerWorkspace(native.workspace ?? {}, around.home),
    landing: lowerLanding(native.land ?? {}),
    limits: lowerLimits(native.limits ?? {}),
    sandbox: lowerSandbox(native),
    notify: (native.notify ?? []).map(lowerNotify),
    ...lowerFailures(plan.failures, around.config.failures),
    conventions: lowerConventions(native.conventions ?? {}),
  };
}

function lowerTask(task: NativeTask, prompt: string, sources: Sources): TaskSpec {
  const agent = agentOf(task, sources);
  const defaults = wishesFor(agent, sources);
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

/** No fallbacks are none: a task can do without those of the defaults. */
function lowerFallbacks(given: Wishes['fallbacks']): Pick<TaskSpec, 'fallbacks'> {
  if (given === undefined || given.length === 0) return {};
  return { fallbacks: given.map(({ agent, model }) => ({ agent, ...present('model', model) })) };
}

/** Those of the defaults, but for scripts, and without the one that the task begins with. */
function usualFallbacks(
  agent: string,
  own: string | undefined,
  { model = undefined, fallbacks = [] }: Wishes,
): Wishes['fallbacks'] {
  if (isScript(agent)) return [];
  return fallbacks.filter((each) => each.agent !== agent || each.model !== (own ?? model));
}

/** Scripts cost nothing. */
function usualEstimate(agent: string, { estimate_usd }: Wishes): number | undefined {
  return isScript(agent) ? undefined : estimate_usd;
}

function modeOf({ read_only, here }: NativeTask): TaskSpec['mode'] {
  if (here === true) return 'here';
  return read_only === true ? 'read' : 'write';
}

function lowerOptions(task: NativeTask, defaults: Wishes): AgentOptions {
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

function lowerServer({ command, env, url }: NonNullable<Wishes['mcp']>[string]): McpServer {
  return url === undefined ? { command: command ?? [], env: env ?? {} } : { url };
}

function lowerWorkspace(given: NonNullable<NativePlan['workspace']>, home: string): WorkspaceSpec {
  const { setup, setup_key, copy, dir, keep, exclude, inject } = given;
  return {
    setup: setup ?? [],
    setupKey: setup_key ?? [],
    copy: copy ?? [],
    ...poolWords(given),
    ...present(
      'dir',
      dir?.replace(/^~(?=\/|$)/, () => home),
    ),
    ...present('keep', keep),
    ...present('exclude', exclude),
    inject: (inject ?? []).map(({ from, to, skip, blank }) => ({
      from: from.replace(/^~(?=\/|$)/, () => home),
      to,
      skip: skip ?? [],
      blank: blank ?? [],
    })),
  };
}

/** How workspaces are used again, and what they hold. */
export function poolWords(
  given: NonNullable<NativePlan['workspace']>,
): Pick<
  WorkspaceSpec,
  'pool' | 'poolDisk' | 'keepFiles' | (`${'seed' | 'sparse'}${string}` & keyof WorkspaceSpec)
> {
  return {
    ...present('pool', given.pool),
    ...present('sparse', given.sparse),
    ...present('sparseAlso', given.sparse_also),
    ...present('poolDisk', given.pool_disk),
    ...present('keepFiles', given.keep_files),
    ...present('seed', given.seed),
    ...present('seedBy', given.seed_by),
    ...present('seedMost', given.seed_most),
    ...present('seedDisk', given.seed_disk),
  };
}

function lowerSandbox({ sandbox, fence }: NativePlan): SandboxSpec {
  return {
    mode: sandbox ?? 'off',
    network: fence?.network ?? 'on',
    caches: fence?.caches ?? [],
  };
}

/** Without `on` somebody is told of every end once, and of what cannot wait. */
export function lowerNotify(entry: NonNullable<NativePlan['notify']>[number]): NotifySpec {
  const { on = ['finished', 'person', 'limit'], webhook, command, desktop } = entry;
  if (webhook !== undefined) return { on, to: { kind: 'webhook', url: webhook } };
  if (command !== undefined) return { on, to: { kind: 'command', run: command } };
  return { on, to: { kind: desktop === true ? 'desktop' : 'bell' } };
}

/** A gate of a plan or of a configuration. */
export function lowerGate({
  name,
  run,
  timeout,
  ...rest
}: NonNullable<NativePlan['gates']>[number]): GateSpec {
  return {
    ...{ name, run, timeoutMs: timeout ?? 10 * MINUTE_MS },
    ...present('retries', rest.retries),
    ...present('paths', rest.paths),
    ...present('env', rest.env),
    ...present('quarantine', rest.quarantine),
    ...present('sees', rest.sees),
  };
}

function lowerLanding(land: NonNullable<NativePlan['land']>): LandingSpec {
  return {
    strategy: land.strategy ?? 'merge',
    verify: land.verify ?? 'each',
    onConflict: land.on_conflict ?? 'agent',
    onGateFailure: land.on_gate_failure ?? 'agent',
    reworks: land.reworks ?? 2,
    publish: land.publish ?? 'end',
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
}: NonNullable<NonNullable<NativePlan['land']>['regenerate']>[number]): RegenerateSpec {
  return { paths, run, timeoutMs: timeout ?? 10 * MINUTE_MS };
}

function lowerLimits(limits: NonNullable<NativePlan['limits']>): LimitsSpec {
  return {
    workers: limits.workers ?? 4,
    gates: limits.gates ?? 1,
    ...present('budgetUsd', limits.budget_usd),
    ...lowerMachine(limits),
    groups: limits.groups ?? {},
  };
}

/** What a run may take of the machine; also used for plans of formats that cannot say it. */
export function lowerMachine(
  limits: NonNullable<NativePlan['limits']>,
): Pick<LimitsSpec, 'diskBytes' | 'diskFreeBytes' | 'memoryPerAttempt' | 'loadPerCore'> {
  return {
    ...present('diskBytes', limits.disk),
    ...present('diskFreeBytes', limits.disk_free),
    ...present('memoryPerAttempt', limits.memory_per_attempt),
    ...present('loadPerCore', limits.load),
  };
}

/** `{ key: value }`, or nothing where there is no value. */
function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
